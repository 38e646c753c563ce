"""A spec as text: YAML read strictly, what is found in it by line and column, written in one form, its JSON Schema."""
