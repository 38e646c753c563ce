import pytest

from metainfer_core.figures import told_apart


@pytest.mark.parametrize(
    ("found", "limit", "styles", "shown"),
    [
        (12.34, 20, (".1f", "g"), ("12.3", "20")),
        (19.98, 20, (".1f", "g"), ("19.98", "20")),
        (19.9999999, 20, (".1f", "g"), ("19.9999999", "20")),
        (20.00000004, 20.00000001, (".1f", "g"), ("20.00000004", "20.00000001")),
        (20, 20.0, (".1f", "g"), ("20.0", "20")),
        (65504.001, 65504, (",.6g",), ("65,504.001", "65,504")),
        (0.002004, 0.002, (".2%",), ("0.2004%", "0.2000%")),
        (0.70004, 0.7, (".0%",), ("70.004%", "70.000%")),
        (1.23449, 1.23451, (".3g",), ("1.234", "1.235")),
        (float("inf"), 20, (".1f", "g"), ("inf", "20")),
    ],
)
def test_figures_show_which_is_larger(found, limit, styles, shown):
    assert told_apart(found, limit, *styles) == shown
    assert told_apart(limit, found, *reversed(styles)) == shown[::-1]


def test_the_closest_two_floats_are_told_apart():
    less, more = told_apart(0.1, 0.1 + 2**-56, ".1f")
    assert float(less) < float(more)
