"""The Chinese texts about decisions."""

from __future__ import annotations

TEXTS_ZH_OF_DECISIONS: dict[str, str] = {
    "told_answered": "{who} 回复了 {whom}",
    "told_approved": "{who} 批准了它",
    "told_as_proposed": "{who} 撤回了覆盖：恢复提出值",
    "told_asked": "{who} 将其退回，请 {whom} 复查",
    "told_commented": "{who} 作了评论",
    "told_moment": "世界时 {day} {minute}",
    "told_off": "{who} 将其关闭",
    "told_overridden": "{who} 作了覆盖：{what}",
    "told_parameter": "{name} 为 {value}",
    "told_reason": "理由：{reason}",
    "told_registered": "{who} 将策略的这一版本提交审批",
    "told_rejected": "{who} 否决了它",
    "told_released": "{who} 为整个策略签名，编号 {serial}",
    "told_released_demo": "演示模式代 {who} 为整个策略签名，编号 {serial}",
    "told_resolved": "{who} 解决了 {whom} 的评论",
    "told_signed": "{who} 为自己的批准签名",
    "told_signed_demo": "演示模式代 {who} 为其批准签名",
    "told_tagged": "{who} 将其退回复查",
    "told_undone": "{who} 撤销了：{what}，{at}",
    "told_until": "有效至 {at}。",
    "told_withdrawn": "{who} 撤回了自己的意见",
    # The forms
    "form_expires": "有效期至",
    "form_expires_help": "至当天结束（世界时）。此后不再按该覆盖构建。留空：与签名包同效。",
    "form_lines_empty": "尚未填写：{fields}。没有写入任何内容。",
    "form_off_legal": "在此模型和芯片上可以关闭。",
    "form_as_proposed_legal": "恢复提出值，在此模型和芯片上可行。",
    "form_wait": "请先更改某个字段，此按钮才可用。",
    "form_wait_illegal": "在此情况下无法写入。",
    "card_is_off": "已关闭。以下内容说的是动作提出时的样子。",
    "card_is_changed": "已覆盖，见参数一栏。以下的说明和影响都是按提出时的动作得出的。",
}
