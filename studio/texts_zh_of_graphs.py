"""Chinese of `texts_of_graphs.py`."""

from __future__ import annotations

TEXTS_ZH_OF_GRAPHS: dict[str, str] = {
    "colour_precision": "精度",
    "colour_risk": "风险",
    "colour_risk_none": "尚无针对此模型的策略：没有策略就没有可显示的风险。",
    "colour_time": "时间占比",
    "colour_time_none": "请选择芯片：时间由其规格预测。",
    "colour_wall": "瓶颈",
    "colour_wall_none": "请选择芯片：瓶颈由其规格预测。",
    "graph_cancel": "取消",
    "graph_colour": "着色依据",
    "graph_find": "按名称查找节点",
    "graph_find_none": "没有名称包含这些字的节点。",
    "graph_fit": "显示全部",
    "graph_keys": "单击或回车：打开组、选择节点 · 方向键：移动 · Esc：关闭组 · + − 0：缩放 · /：查找",
    "graph_label": "模型的计算图",
    "graph_large": "Netron 会一次排布全部 {count} 个节点。这可能需要几分钟，期间本页无法停止忙碌的浏览器标签页。"
    "“计算图”标签页按组显示此模型。",
    "graph_large_open": "仍用 Netron 打开",
    "graph_more_actions": "另有 {count} 个",
    "graph_no_actions": "策略中没有改变此节点的动作。",
    "graph_no_policy": "尚无针对此模型的策略。",
    "graph_nodes": "# 个节点",
    "graph_note": "{nodes} 个节点分为 {groups} 组：按名称中的模块分组，否则按连接关系分组。点线端表示通向组外。"
    "时间与瓶颈为预测值：float32，不融合。",
    "graph_opening": "正在打开……",
    "graph_pick": "单击一个节点，查看其开销以及改变它的动作。",
    "graph_show": "在计算图中显示",
    "graph_view": "计算图",
    "graph_whole": "整个计算图",
    "graph_zoom_in": "放大",
    "graph_zoom_out": "缩小",
    "precision_mixed": "混合",
    "risk_none": "无动作",
    "wall_bandwidth": "带宽",
    "wall_compute": "计算",
    "wall_launch": "启动开销",
    "wall_memory": "存储延迟",
    "wall_mostly": "主要受限于{wall}",
    "wall_unknown": "未知",
}
