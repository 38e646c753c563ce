import numpy as np
import pytest
from branching import chain

from metainfer_core.cost.estimate import CallCost, Estimate, Interval
from metainfer_core.graph.summary import GraphSummary
from metainfer_core.numerics.metrics import OutputEffect, broken_channels, output_effect, sqnr_by_channel
from metainfer_core.policy.policy import Policy, PolicyAction
from metainfer_core.spec.library import load
from metainfer_core.verify.report import Layer, MemoryBlock, MemoryMap
from studio.pictures.pictures_cost import MOST_BARS, cost_picture
from studio.pictures.pictures_effect import EXACT_ABOVE, FLOOR, channel_picture, channel_words, pareto_picture
from studio.pictures.pictures_figure import different
from studio.pictures.pictures_memory import alive_memory, planned_memory
from studio.pictures.pictures_precision import precision_picture
from studio.words.markup import markup


def call(name, low, typical, high):
    times = Interval(low=low, typical=typical, high=high) if typical is not None else None
    return CallCost(node_ids=(name,), unit="npu", time=times, binds="compute", mend="", bytes_by_memory={"dram": 2048})


def estimate(*calls):
    return Estimate(calls=calls, total=None, bytes_by_memory={}, unknown=())


def candidate(name, time, ratio, chosen=False, within=True):
    figures = {"exact": True} if ratio is None else {"exact": False, "sqnr_db": ratio}
    return {
        "name": name,
        "predicted_ms": time,
        "chosen": chosen,
        "moved_bytes": 4096,
        "within_budget": within,
    } | figures


CANDIDATES = (
    candidate("int8", [1.0, 3.0], 24.0, chosen=True),
    candidate("mixed", [2.0, 6.0], 31.0) | {"typical_ms": 3.0},
    candidate("worse", [4.0, 8.0], 22.0),
    candidate("tight", [0.5, 1.5], 11.0, within=False),
    candidate("float32", [8.0, 12.0], None),
)


def marks(figure):
    """Name of each set of marks to its points and the names of these."""
    return {
        trace.name: list(zip(trace.text, trace.x, trace.y, strict=True))
        for trace in figure.data
        if trace.mode == "markers"
    }


def test_candidates_stand_by_time_and_effect_with_the_chosen_one_marked():
    found = pareto_picture(Policy(actions=(), candidates=CANDIDATES, objective={"min_sqnr_db": 20}))
    assert marks(found.figure) == {
        "chosen": [("int8", 2.0, 24.0)],
        "within the budget": [("mixed", 3.0, 31.0), ("worse", 6.0, 22.0), ("float32", 10.0, 31.0 + EXACT_ABOVE)],
        "over the budget": [("tight", 1.0, 11.0)],
    }
    interval = found.figure.data[2].error_x
    assert (interval.array[0], interval.arrayminus[0]) == (3.0, 1.0)
    front = found.figure.data[0]
    assert list(zip(front.x, front.y, strict=True)) == [(1.0, 11.0), (2.0, 24.0), (3.0, 31.0), (10.0, 41.0)]
    assert found.how == "both"
    assert found.rows[0] == (
        "int8",
        "1.00 ms … 3.00 ms",
        "24.0 dB",
        "4.00 KiB",
        "within the budget, chosen, Pareto front",
    )
    assert found.rows[2][-1] == "within the budget"  # others beat it in both
    assert found.rows[4][2] == "no error"
    assert {"20.0 dB", "no error"} <= {
        each.text.replace("budget ", "") for each in found.figure.layout.annotations
    }  # both lines say what they are


def test_without_times_candidates_stand_by_bytes_and_without_figures_nowhere():
    without = tuple({key: value for key, value in each.items() if key != "predicted_ms"} for each in CANDIDATES)
    found = pareto_picture(Policy(actions=(), candidates=without))
    assert found.figure.layout.xaxis.title.text == "bytes moved, predicted"
    assert found.rows[0][1] == "unknown"
    in_words = ({"name": "int8", "accuracy": "at least 24 dB", "chosen": True},)
    assert pareto_picture(Policy(actions=(), candidates=in_words)) is None
    assert pareto_picture(Policy(actions=(), candidates=(*CANDIDATES[:1], *in_words))).left_out == 1


def test_time_and_bytes_of_the_nodes_that_take_longest():
    calls = [call(f"n{at}", at, at + 1.0, at + 3.0) for at in range(MOST_BARS + 10)]
    found = cost_picture(estimate(*calls, call("dark", 0, None, 0)))
    times, moved = found.figure.data
    assert list(times.y[:2]) == [f"n{MOST_BARS + 9}", f"n{MOST_BARS + 8}"]
    assert (times.x[0], times.error_x.array[0], times.error_x.arrayminus[0]) == (MOST_BARS + 10.0, 2.0, 1.0)
    assert list(moved.x) == [2048] * MOST_BARS
    assert (found.how, found.left_out, len(found.rows)) == ("predicted", 11, MOST_BARS)
    assert found.rows[0] == (f"n{MOST_BARS + 9}", "35.0 µs", "34.0 µs … 37.0 µs", "2.00 KiB", "npu")
    assert cost_picture(estimate(call("dark", 0, None, 0))) is None


def test_a_package_s_memory_over_time_with_capacity_peak_and_lower_bound():
    blocks = (
        MemoryBlock(tensor="a", offset_bytes=0, size_bytes=100, start=0, end=2),
        MemoryBlock(tensor="b", offset_bytes=150, size_bytes=50, start=1, end=3),
    )
    sizes = {"capacity_bytes": 256, "peak_bytes": 200, "lower_bound_bytes": 150}
    arena = MemoryMap(memory="sram", planner="greedy", steps=3, blocks=blocks, **sizes)
    found = planned_memory(arena)
    alive, top = found.figure.data
    assert list(alive.y) == [100, 150, 50, 50]  # the last step lasts to the end
    assert list(top.y) == [100, 200, 200, 200]
    lines = {each.y0 for each in found.figure.layout.shapes}
    assert lines == {150, 256}
    assert found.rows[1] == ("1", "150 B", "200 B")
    far = planned_memory(MemoryMap.from_plain(arena.plain() | {"capacity_bytes": 1 << 20}))
    assert {each.y0 for each in far.figure.layout.shapes} == {150}
    assert (far.how, far.sentence[-18:]) == ("planned", "capacity 1.00 MiB.")


def test_what_is_alive_is_drawn_from_shapes_alone():
    nodes = tuple(type(each).from_plain(each.plain() | {"live_bytes": 10 * at}) for at, each in enumerate(chain(40)))
    found = alive_memory(GraphSummary(nodes=nodes, parameter_bytes=0, peak_live_bytes=390), None)
    assert list(found.figure.data[0].y)[:3] == [0, 10, 20]
    assert (found.how, found.rows[-1], found.left_out) == ("counted", ("39", "n39", "390 B"), 15)
    with_chip = alive_memory(GraphSummary(nodes=nodes, parameter_bytes=0, peak_live_bytes=390), load("rk3588"))
    assert "dram holds" in with_chip.sentence


def test_every_channel_of_a_layer_and_its_worst():
    figures = OutputEffect(output="y", channels=4, dead_channels=1)
    layer = Layer(node_id="conv", tensor="y", precision="int8", figures=figures, channels_db=(30.0, None, -2.0, 21.5))
    found = channel_picture(layer, 6.0)
    noisy, exact = found.figure.data
    assert list(zip(noisy.x, noisy.y, strict=True)) == [(0, 30.0), (2, -2.0), (3, 21.5)]
    assert (list(exact.x), list(exact.y)) == ([1], [30.0 + EXACT_ABOVE])
    assert found.rows == (("2", "-2.0 dB"), ("3", "21.5 dB"), ("0", "30.0 dB"), ("1", "exact"))
    assert "The worst is no. 2: -2.0 dB; dead channels: 1." in found.sentence
    assert (found.how, found.figure.layout.yaxis.range) == ("measured", None)
    low = channel_picture(layer.__class__.from_plain(layer.plain() | {"channels_db": [30.0, -90.0]}), None)
    assert low.figure.layout.yaxis.range == (FLOOR, 30.0 + 2 * EXACT_ABOVE)
    assert low.rows[0] == ("1", "-90.0 dB")
    assert channel_picture(Layer(node_id="conv", tensor="y", precision="int8", figures=figures), 6.0) is None


def test_a_silent_channel_and_a_broken_one_are_said_in_a_word_and_stand_off_the_scale():
    reference = np.random.default_rng(5).standard_normal((4, 1, 4, 9))
    reference[:, :, 1] = 0.0
    actual = reference + 0.01
    actual[0, 0, 2, 3], actual[:, :, 3] = np.nan, reference[:, :, 3]
    layer = Layer(
        node_id="conv",
        tensor="y",
        precision="int8",
        figures=output_effect("y", reference, actual),
        channels_db=sqnr_by_channel(reference, actual),
        broken_channels=broken_channels(reference, actual),
    )
    assert layer.broken_channels == (2,)
    found = channel_picture(layer, None)
    bars, exact, broken, silent = found.figure.data
    assert (list(bars.x), list(exact.x)) == ([0], [3])
    assert [(each.name, list(each.x), each.yaxis) for each in (broken, silent)] == [
        ("not finite", [2], "y2"),
        ("silent in the model", [1], "y2"),
    ]
    assert found.figure.layout.yaxis.range is None  # nothing at -300 dB that would press the rest flat
    ratio = f"{layer.channels_db[0]:.1f} dB"
    assert found.rows == (("2", "not finite"), ("1", "silent in the model"), ("0", ratio), ("3", "exact"))
    assert f"The worst is no. 0: {ratio};" in found.sentence
    assert found.sentence.endswith("Off the scale, at the foot: not finite: 1; silent in the model: 1.")
    before = Layer.from_plain({key: value for key, value in layer.plain().items() if key != "broken_channels"})
    assert [channel_words(before, at) for at in (1, 2)] == ["silent in the model, or not finite"] * 2


def test_the_precision_map_has_a_mark_for_every_node():
    nodes = chain(4)
    line = PolicyAction(node_id="n1", action="quantize", nodes=("n1", "n2"), params={"bit_width": 4})
    found = precision_picture(nodes, Policy(actions=(line,)))
    assert {trace.name: (list(trace.x), set(trace.y)) for trace in found.figure.data} == {
        "int4": ([1, 2], {"int4"}),
        "float32": ([0, 3], {"float32"}),
    }
    assert found.rows == (("0", "n0", "n0", "float32"), ("1 – 2", "n1", "n2", "int4"), ("3", "n3", "n3", "float32"))
    assert (found.how, precision_picture(nodes, None).how) == ("decided", "counted")
    assert list(found.figure.layout.yaxis.categoryarray) == ["int4", "float32"]


@pytest.mark.parametrize("name", ["<b>x</b>", "<img src=x onerror=alert(1)>"])
def test_names_of_a_model_stay_text_in_figures_and_tables(name):
    found = cost_picture(estimate(call(name, 1, 1.0, 1)))
    assert "<" not in found.figure.data[0].y[0]
    page = markup("picture_table", caption="", head=found.head, rows=found.rows, left_out=0)
    assert name not in page
    assert name.replace("<", "&lt;").replace(">", "&gt;") in page
    assert len(set(different(["a" * 60, "a" * 60, "b"]))) == 3  # an axis would put equal names in one place
