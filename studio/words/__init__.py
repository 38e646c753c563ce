"""What screens say: texts in both languages, the core's sentences, numbers, moments, marks."""
