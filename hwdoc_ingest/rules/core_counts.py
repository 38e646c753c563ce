"""How many cores a processor has, where a row or a column of a table is called so."""

from __future__ import annotations

from hwdoc_ingest.rules.rule import QuantityRule, words

RULES: tuple[QuantityRule, ...] = (
    QuantityRule(
        "cpu.cores",
        "count",
        words(
            r"^(?:(?:number|no\.) of )?(?:(?:CPU|processor|application|main) )?(?:processors?|cores?|CPUs)(?: count)?"
            r"(?=$| \|)"
            r"|^CPU(?: core)? ?(?:count|number|数)"
        ),
        low=1,
        high=256,
        only_bounds=True,
        forbids=words(r"\b(?:GPU|NPU|DSP|shader|execution|CUDA|AI|tensor)\b"),
        sureness=0.82,
    ),
)
