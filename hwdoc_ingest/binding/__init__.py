"""From statements to candidates: which number belongs to which name."""
