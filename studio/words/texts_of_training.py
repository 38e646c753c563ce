"""Interface texts of changes that need training again."""

from __future__ import annotations

TEXTS_OF_TRAINING: dict[str, dict[str, str]] = {
    "training_tab": {"en": "With training again {count}"},
    "training_about": {
        "en": "What the model could be if it were trained again for this chip. Effects are predicted, not measured; "
        "nothing of it is done, reviewed or signed."
    },
    "training_none": {"en": "For this chip no change is known that would be worth training again for."},
    "training_grade": {"en": "Class"},
    "training_change": {"en": "Change"},
    "training_why": {"en": "Why"},
    "training_time": {"en": "Predicted change of time"},
    "training_risk": {"en": "Risk"},
    "training_measure": {"en": "To be measured then"},
    "training_then": {"en": "What to do"},
    "grade_safe": {"en": "safe"},
    "grade_needs_review": {"en": "needs review"},
    "grade_forbidden": {"en": "forbidden"},
}
