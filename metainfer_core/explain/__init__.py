"""Why each action is there, as a tree of claims, reasons and sources, in text, JSON and HTML."""
