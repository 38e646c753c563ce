"""English that is left on a screen in Chinese: every Latin word of a text that is no name, unit or abbreviation."""

from __future__ import annotations

import re
from collections.abc import Collection

import onnx

SHOWN = """() => {
    const texts = [];
    const unread = ['CODE', 'PRE', 'KBD', 'STYLE', 'SCRIPT', 'NOSCRIPT', 'BLOCKQUOTE'];
    const walk = (node) => {
        if (node.nodeType === Node.TEXT_NODE) return texts.push(node.textContent);
        if (unread.includes(node.nodeName) || /Icon/.test(node.dataset?.testid)) return;
        if (/ icon$/.test(node.getAttribute?.('aria-label'))) return;
        for (const name of ['aria-label', 'placeholder', 'alt']) texts.push(node.getAttribute?.(name) ?? '');
        for (const child of (node.shadowRoot || node).childNodes) walk(child);
    };
    walk(document.body);
    return [...new Set(texts.map(each => each.trim().replaceAll(/\\s+/g, ' ')))].filter(Boolean);
}"""
"""Every text of a page, shown or read out, but code and what one types."""
QUOTED = re.compile(r"“[^”]*”")
"""Words of documents stand between these, in their own language."""
NAME = re.compile(r"[\w./@%-]*[\d_./@][\w./@-]*")
"""A path, a key of a file, the name of a node or an amount with its unit: no word of a language has these signs."""
WORD = re.compile(r"[A-Za-z][A-Za-z'-]+")
UNITS = frozenset("""dB ms µs us KiB MiB GiB MB GB Hz kHz MHz GHz Kbit bit MAC kMAC TOPS""".split())  # noqa: SIM905
ABBREVIATIONS = frozenset(
    """
    ONNX PDF SVD CMSIS CSV XLSX DTS DTSI DTB YAML YML JSON HTML NPZ SQNR arg-max FPU SDR DDR SIMD MFLOPS
    NPU CPU GPU DSP DMA SRAM DRAM PSRAM ROM OTP Esc Enter Tab Alt
    pdf xlsx csv svd dts dtsi dtb onnx npz yaml yml json bundle
    """.split()  # noqa: SIM905
)
PROPER = frozenset("""Xtensa LX AMD EPYC Intel Xeon Runtime Netron Roofline English meta-infer Jacob""".split())  # noqa: SIM905
OPERATORS = frozenset(schema.name for schema in onnx.defs.get_all_schemas())
STREAMLIT = frozenset(
    """
Skip to main content
Sidebar
Collapse sidebar
Expand sidebar
App pages
Link to heading
file upload
Upload
Open
Close
Copy to clipboard
Show/hide columns
Download as CSV
Search
Fullscreen
Close fullscreen
Choose an option
Decrement
Increment
Clear value
Clear all
progress
Download plot as a PNG
Zoom
Pan
Zoom in
Zoom out
Autoscale
Reset axes
st.iframe
Select a date.
Calendar.
YYYY-MM-DD
""".strip().splitlines()
)
"""What Streamlit says itself, almost all of it read out only; nobody can set it."""
ITS_OWN = re.compile(r"^\d+MB per file$|^• application/|^Help for |^(year|month|day), |^Choose date$|^(yyyy|mm|dd)$")
"""The same, where a number or a label stands in it."""


def english(texts: Collection[str], names: Collection[str]) -> dict[str, list[str]]:
    """Texts in which words are left, each with these words.

    Args:
        texts: All texts of a screen.
        names: Of nodes, memories, people and files that look like words, and whole texts that people wrote.
    """
    left = {}
    phrases = [name for name in names if " " in name]
    known = UNITS | ABBREVIATIONS | PROPER | OPERATORS | {*names}
    for each in texts:
        if each in STREAMLIT or ITS_OWN.search(each):
            continue
        ours = QUOTED.sub(" ", each)
        for phrase in phrases:
            ours = ours.replace(phrase, " ")
        words = [word for word in WORD.findall(NAME.sub(" ", ours)) if word not in known]
        if words:
            left[each] = words
    return left
