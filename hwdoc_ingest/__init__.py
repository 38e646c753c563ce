"""From documents to a SpecDraft: pages, OCR, tables, registers, device trees."""
