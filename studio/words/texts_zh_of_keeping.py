"""The Chinese texts of keeping a workspace."""

from __future__ import annotations

TEXTS_ZH_OF_KEEPING: dict[str, str] = {
    # A review as one page
    "record_page": "存为单页",
    "record_page_hint": (
        "整个审批存为一个 HTML 文件：每个动作及其理由、手册中对应位置的图片、结论与历史。"
        "该页面不访问任何其他位置，适合打印。"
    ),
    "record_page_no_spec": "该页面需要芯片的硬件规格，而它不在工作区中。",
    # Retrained weights
    "carry_open": "确认 {count} 个保持不变的动作",
    "carry_hint": "这些动作您在重新训练权重之前批准过。参数与风险相同，重新测得的影响保持在其离散范围之内。"
    "此处逐一列出名称。",
    "carry_none": "您此前批准的动作没有一个保持不变：请逐个查看。",
    "carry_others": "{count} 个须逐一查看",
    "column_changed": "变化",
    "reapply_open": "将策略沿用到重新训练的权重",
    "reapply_hint": "若此模型与某个早先策略的模型图相同而权重不同：将重做相同的动作，并重新测量全部影响。审批继续进行；"
    "所有批准起初均已失效。",
    "reapply_policy": "早先权重的策略",
    "reapply_start": "沿用",
    "reapply_title": "{policy} 沿用到 {model}",
    "reapply_review": "审批沿用的策略：{policy}",
    # Manuals
    "keep_manuals": "手册存放位置",
    "keep_manuals_at": "手册存放在此文件夹中，上传的文件也存放于此。",
    "keep_manuals_other": "另一个文件夹，例如加密磁盘；留空则为工作区自己的文件夹",
    "keep_manuals_set": "存放于此",
    "keep_purge": "清除手册",
    "keep_purge_hint": "文档、其页面图片及全部副本将被永久删除。数值、摘要以及人们的决定保留。"
    "备份和您导出的文件不受影响。",
    "keep_purge_words": "同时删除草稿和规格中引用的原文",
    "keep_purge_do": "清除：{count} 个文件和文件夹",
    "keep_purge_done": "{name} 已清除。",
    "keep_purge_left": "以下位置仍有其文字或图片：{names}。请自行查看。",
    "keep_purged": "{name} 已于 {day} 由 {person} 清除",
    "desk_page_purged": "文档已清除：无法再显示其页面。摘要、数值和位置框保留。\n\n{text}",
    "spec_page_purged": "文档已清除：无法再显示其页面。数值和摘要保留。",
    # Backups
    "backup_where": "要写入的文件，最好在另一块磁盘上",
    "backup_do": "保存",
    "backup_title": "备份到 {file}",
    "backup_hint": "备份：全部工作存入一个文件，其他人可继续工作；用 `meta-infer workspace restore` 恢复。",
}
