"""A page into statements: running text under its headings, and tables row by row."""
