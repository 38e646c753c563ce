import pytest

from metainfer_core.explain.sizes import size
from metainfer_core.graph.summary import NodeSummary
from metainfer_core.spec.hardware_spec import HardwareSpec
from studio.files.sample_shapes import suggested_shapes
from studio.model.graph_drawing import BOX_HEIGHT, GAP_Y, MOST_NODES, neighbourhood, readers_of
from studio.pages.crops import crop_of
from studio.words.figures import decibels, microseconds, milliseconds, rate, whole
from studio.words.markup import markup


def node(name, *reads):
    return NodeSummary(
        id=name, op_type="Conv", macs=1, flops=2, input_bytes=4, output_bytes=4, parameter_bytes=0, moved_bytes=8,
        live_bytes=8, output_shapes=((1, 2),), element_type="float32", reads=reads,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (size(0), "0 B"),
        (size(1023), "1023 B"),
        (size(1024), "1.00 KiB"),
        (size(1536), "1.50 KiB"),
        (size(654 * 1024, sign=True), "+654 KiB"),
        (size(-8192, sign=True), "−8.00 KiB"),
        (size(5 << 40), "5.00 TiB"),
        (size(None), "unknown"),
        (microseconds(0.25), "0.250 µs"),
        (microseconds(999.4), "999 µs"),
        (microseconds(1500), "1.50 ms"),
        (microseconds(-4.1, sign=True), "−4.10 µs"),
        (microseconds(2.5e6), "2.50 s"),
        (microseconds(None), "unknown"),
        (milliseconds(1.04), "1.04 ms"),
        (decibels(None), "exact"),
        (decibels(41.25), "41.2 dB"),
        (whole(1234567), "1\u202f234\u202f567"),
        (rate(6e12, "OPS"), "6.00 TOPS"),
        (rate(16_300_000, "MAC"), "16.3 MMAC"),
        (rate(None, "MAC"), "unknown"),
    ],
)
def test_numbers_have_three_digits_and_a_unit(shown, expected):
    assert shown == expected


DIAMOND = [node("a"), node("b", "a"), node("c", "a"), node("d", "b", "c"), node("e", "d"), node("f")]


def places(drawing):
    return {box.id: (box.x, box.y) for box in drawing.boxes}


def test_what_feeds_a_node_stands_above_it_and_cousins_stay_out():
    drawing = neighbourhood(DIAMOND, ["b"], hops=1)
    assert sorted(places(drawing)) == ["a", "b", "d"]
    step = BOX_HEIGHT + GAP_Y
    assert [places(drawing)[each][1] for each in ("a", "b", "d")] == [0, step, 2 * step]
    assert [box.id for box in drawing.boxes if box.is_centre] == ["b"]
    assert len(drawing.edges) == 2


def test_boxes_never_overlap_and_edges_go_down():
    drawing = neighbourhood(DIAMOND, ["d"], hops=3)
    assert sorted(places(drawing)) == ["a", "b", "c", "d", "e"]
    assert len(set(places(drawing).values())) == 5
    assert all(y < to_y for _, y, _, to_y in drawing.edges)
    assert drawing.hidden == 0


def test_a_side_input_stands_right_above_its_first_reader():
    nodes = [node("side"), node("a"), node("b", "a"), node("c", "b", "side")]
    found = places(neighbourhood(nodes, ["c"], hops=3))
    assert found["side"][1] == found["b"][1]


def test_too_many_neighbours_are_counted_not_drawn():
    nodes = [node("a"), *(node(f"r{number}", "a") for number in range(100))]
    drawing = neighbourhood(nodes, ["a"])
    assert (len(drawing.boxes), drawing.hidden) == (MOST_NODES, 101 - MOST_NODES)
    assert len(set(places(drawing).values())) == MOST_NODES
    assert readers_of(nodes)["a"] == [f"r{number}" for number in range(100)]


def test_nodes_that_the_graph_does_not_have_give_no_picture():
    assert neighbourhood(DIAMOND, ["nobody"]) is None


def test_names_are_escaped_in_pictures():
    drawing = neighbourhood([node('<script>alert("1")</script>')], ['<script>alert("1")</script>'])
    svg = markup("neighbourhood", drawing=drawing, width=10, height=10, picks=True)
    assert "<script" not in svg
    assert 'data-pick="&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt;"' in svg


def test_a_broken_data_file_suggests_no_shape(tmp_path):
    for name, data in {"a.npz": b"", "b.npz": b"PK\x03\x04broken", "c.npz": b"\x00" * 100}.items():
        (tmp_path / name).write_bytes(data)
        assert suggested_shapes(tmp_path / name) == ()


def test_a_value_without_a_place_has_no_cut_out():
    assert crop_of(HardwareSpec(name="chip", version="1.0.0"), "memories.sram.size_bytes") is None
