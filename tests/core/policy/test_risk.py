from __future__ import annotations

import pytest

from metainfer_core.actions.action import Action, Reason
from metainfer_core.actions.catalog import kind
from metainfer_core.numerics.metrics import Effect, OutputEffect
from metainfer_core.policy.objective import Objective, shortfalls, worst_sqnr_db
from metainfer_core.policy.policy import Evidence
from metainfer_core.policy.risk import Level, assess


def effect(samples: int = 100, **fields: object) -> Effect:
    return Effect(outputs=(OutputEffect(output="y", **fields),), samples=samples, data="images")  # type: ignore[arg-type]


GOOD = Evidence(alone=effect(sqnr_db=45.0), together=effect(sqnr_db=40.0))


def level(
    action: Action, evidence: Evidence = GOOD, is_random: bool = False, fills: str | None = None
) -> tuple[Level, str]:
    of_kind = kind(action.kind)
    assert of_kind is not None
    risk = assess(of_kind, action, evidence, Objective(), is_random, fills)
    return risk.level, risk.facts[0]


def act(name: str, nodes: tuple[str, ...] = ("n",), why: tuple[Reason, ...] = (), **params: object) -> Action:
    return Action(kind=name, nodes=nodes, params=params, why=why)


@pytest.mark.parametrize(
    ("action", "evidence", "expected"),
    [
        (act("quantize", bit_width=8), GOOD, ("low", "Rounding to integers changes valu")),
        (act("quantize", bit_width=4), GOOD, ("high", "INT4 leaves 16 codes.")),
        (act("quantize", bit_width=8), Evidence(), ("high", "Its effect was not measured")),
        (
            act("quantize", bit_width=8),
            Evidence(alone=effect(sqnr_db=12.0)),
            ("high", "Alone: y has 12.0 dB; the budget is 20 dB."),
        ),
        (
            act("quantize", bit_width=8),
            Evidence(together=effect(sqnr_db=53.0, audible_dead_channels=80, channels=84, cosine=0.999998)),
            ("high", "With all others: 80 of 84 channels of y no longer vary; at most 0 may."),
        ),
        (
            act("quantize", bit_width=8),
            Evidence(together=effect(sqnr_db=53.0, audible_channel=4, audible_channel_sqnr_db=1.0)),
            ("high", "With all others: Channel 4 of y has 1.0 dB; the budget is 6 dB."),
        ),
        (
            act("quantize", bit_width=8),
            Evidence(together=effect(sqnr_db=53.0, argmax_flips=5)),
            ("medium", "With all others: the greatest element of y moved in 5 of 100 samples."),
        ),
        (
            act("quantize", bit_width=8),
            Evidence(together=effect(sqnr_db=23.0)),
            ("medium", "With all others: 23.0 dB is within 6 dB of the budget."),
        ),
        (act("fuse", ("a", "b")), Evidence(), ("low", "The same function; ")),
        (act("fuse", tuple("abcdefg")), Evidence(), ("high", "7 nodes become one kernel.")),
        (
            act("decompose", into=("Exp",)),
            Evidence(),
            ("medium", "The graph's structure changes; the function does not."),
        ),
        (
            act("decompose", method="fallback", target_hw="cpu"),
            Evidence(),
            ("medium", "The data travels to cpu and back."),
        ),
        (act("place"), Evidence(), ("low", "Where bytes lie changes no result.")),
        (
            act("place", why=(Reason(claim="c", spec_field="memories.sram.size_bytes", spec_value="9 (assumed)"),)),
            Evidence(),
            ("medium", "It rests on memories.sram.size_bytes, which no document gives."),
        ),
    ],
)
def test_levels_and_their_first_fact(action: Action, evidence: Evidence, expected: tuple[str, str]) -> None:
    found = level(action, evidence)
    assert (found[0], found[1][: len(expected[1])]) == expected


def test_random_data_and_a_full_small_memory_tag_themselves() -> None:
    assert level(act("quantize", bit_width=8), is_random=True)[0] == "high"
    assert level(act("fuse", ("a", "b")), is_random=True)[0] == "low"
    assert level(act("place"), fills="sram") == (
        "high",
        "Every tensor lies in sram alone: if less of it is free on the device than the spec says, the program cannot "
        "run.",
    )


def test_the_budget_reads_every_figure_but_cosine() -> None:
    objective = Objective()
    assert shortfalls(objective, effect(sqnr_db=None)) == ()
    assert shortfalls(objective, effect(sqnr_db=25.0, cosine=-1.0)) == ()
    assert shortfalls(objective, effect(sqnr_db=25.0, worst_channel_sqnr_db=-12.0)) == ()  # negligible channel
    assert shortfalls(objective, effect(sqnr_db=25.0, not_finite=2)) == ("2 elements of y are no longer numbers.",)
    assert len(shortfalls(objective, effect(sqnr_db=5.0, audible_dead_channels=1, argmax_flips=50))) == 3
    assert shortfalls(objective, effect(samples=8, sqnr_db=25.0, argmax_flips=1)) == ()
    assert shortfalls(objective, effect(samples=8, sqnr_db=25.0, argmax_flips=2)) == (
        "The greatest element of y moved in 2 of 8 samples; at most 5% may.",
    )
    assert worst_sqnr_db(effect(sqnr_db=None)) == float("inf")
