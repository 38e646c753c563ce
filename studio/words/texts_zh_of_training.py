"""The Chinese texts of changes that need training again."""

from __future__ import annotations

TEXTS_ZH_OF_TRAINING: dict[str, str] = {
    "training_tab": "需重新训练 {count} 个",
    "training_about": (
        "若为此芯片重新训练，模型可以怎样改变。效果为预测，并非实测；这些改变均未执行，也不参与审核与签名。"
    ),
    "training_none": "对此芯片，没有值得为之重新训练的已知改变。",
    "training_grade": "类别",
    "training_change": "改变",
    "training_why": "原因",
    "training_time": "预测的时间变化",
    "training_risk": "风险",
    "training_measure": "之后须重新测量",
    "training_then": "如何进行",
    "grade_safe": "安全",
    "grade_needs_review": "需要审核",
    "grade_forbidden": "禁止",
}
