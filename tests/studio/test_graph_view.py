import random
from itertools import pairwise

import pytest
from branching import branching

from metainfer_core.cost.estimate import CallCost, Estimate, Interval
from metainfer_core.graph.files.load import import_model
from metainfer_core.graph.groups import Group, ancestors, group_nodes
from metainfer_core.graph.static.preprocess import preprocess
from metainfer_core.graph.summary import NodeSummary, summarise
from metainfer_core.policy.policy import Policy, PolicyAction, Risk
from studio.graph.graph_view import GraphDesk, Told, take
from studio.graph.graph_view_layout import GAP_X, lay_out
from studio.graph.graph_view_scene import MOST_BOXES, Unfolded, closed, opened, scene
from studio.pictures.graph_view_colours import Paint, actions_on, painting, precisions


def node(name, *reads, op_type="Relu", element_type="float32"):
    return NodeSummary(
        id=name, op_type=op_type, macs=0, flops=0, input_bytes=0, output_bytes=0, parameter_bytes=0, moved_bytes=0,
        live_bytes=0, output_shapes=((1,),), element_type=element_type, reads=reads,
    )  # fmt: skip


@pytest.fixture(scope="module")
def large():
    """The groups of a branching model of 10,000 nodes."""
    names = []
    last = "x"
    for block in range(250):
        ends = []
        for branch in range(3):
            before = last
            for step in range(13):
                names.append(node(f"b{block}_{branch}_{step}", before))
                before = names[-1].id
            ends.append(before)
        names.append(node(f"join{block}", *ends, op_type="Add"))
        last = names[-1].id
    return group_nodes(names)


def overlapping(boxes):
    """Pairs of boxes that cover each other and are not one in the other's frame."""
    flat = [box for box in boxes if box.kind != "frame"]
    ordered = sorted(flat, key=lambda box: box.x)
    return [
        (one.key, other.key)
        for at, one in enumerate(ordered)
        for other in ordered[at + 1 :]
        if other.x < one.x + one.width and one.y < other.y + other.height and other.y < one.y + one.height
    ]


def test_boxes_in_layers_stand_under_all_that_feed_them_and_apart():
    sizes = {"a": (100, 40), "b": (300, 60), "c": (100, 40), "side": (100, 40), "d": (100, 40)}
    edges = [("a", "b"), ("a", "c"), ("b", "d"), ("a", "d"), ("side", "d")]
    found = lay_out(sizes, edges)
    assert [found.places[each][1] for each in ("a", "b", "d")] == [0, 70, 160]
    assert found.places["side"][1] == found.places["b"][1] == found.places["c"][1]  # right above its reader
    row = sorted((found.places[each][0], sizes[each][0]) for each in ("b", "c", "side"))
    assert all(x + width + GAP_X <= following + 1e-6 for (x, width), (following, _) in pairwise(row))
    assert set(found.ways) == set(edges)
    assert len(found.ways["a", "d"]) == 4  # passes a layer in a lane of its own
    lane = found.ways["a", "d"][1][0]
    assert not any(found.places[each][0] < lane < found.places[each][0] + sizes[each][0] for each in ("b", "c", "side"))
    assert all(y < to_y for way in found.ways.values() for (_, y), (_, to_y) in pairwise(way))


def test_a_layout_of_nothing_and_of_one_box():
    assert lay_out({}, ()).places == {}
    assert lay_out({"a": (10, 20)}, ()) == lay_out({"a": (10, 20)}, [])
    assert (lay_out({"a": (10, 20)}, ()).width, lay_out({"a": (10, 20)}, ()).height) == (10, 20)


def test_edges_that_need_not_cross_do_not():
    sizes = {each: (50, 20) for each in ("a", "b", "c", "y", "z", "x")}
    found = lay_out(sizes, [("a", "x"), ("b", "y"), ("c", "z")])
    assert [found.places[each][0] for each in "abc"] == [found.places[each][0] for each in "xyz"]


@pytest.mark.parametrize("seed", range(6))
def test_any_graph_is_laid_out_without_overlap_and_always_the_same(seed):
    random_of = random.Random(seed)
    nodes = [node("n0")]
    for at in range(1, 120):
        nodes.append(node(f"n{at}", *{f"n{random_of.randrange(max(0, at - 9), at)}" for _ in range(2)}))
    tree = group_nodes(nodes)
    view = Unfolded()
    for group in list(tree.groups)[:6]:
        view = opened(tree, view, group)
    drawn = scene(tree, view)
    assert overlapping(drawn.boxes) == []
    assert drawn == scene(group_nodes(nodes), view)
    assert all(box.x >= 0 and box.x + box.width <= drawn.width + 1e-6 for box in drawn.boxes)
    frames = {box.key: box for box in drawn.boxes if box.kind == "frame"}
    for box in drawn.boxes:
        if box.kind != "node" and (around := frames.get("g" + ancestors(box.key[1:])[-2])):
            assert around.x < box.x < box.x + box.width < around.x + around.width


def test_fault_16_ten_thousand_nodes_are_seen_a_few_at_a_time(large):
    assert len(large.nodes) == 10_000
    first = scene(large, Unfolded())
    assert 2 <= len(first.boxes) <= 24
    assert sum(len(box.nodes) for box in first.boxes) == 10_000
    view = Unfolded()
    for group in large.groups:
        view = opened(large, view, group)
        drawn = scene(large, view)
        shown = {box.key for box in drawn.boxes}
        assert len(drawn.boxes) <= MOST_BOXES
        inside = [f"g{child.id}" if isinstance(child, Group) else f"n{child}" for child in large.groups[group].children]
        assert set(inside) <= shown, group


def test_fault_16_a_real_file_of_branches_is_grouped_by_its_blocks():
    model = preprocess(import_model(branching(400), "model").model).model
    tree = group_nodes(summarise(model).nodes)
    blocks = [child for child in tree.root.children if isinstance(child, Group)]
    assert len(blocks) == 1 + 400 // 34 + 1  # the input is no node: the first branch from it looks like a chain
    assert [len(block.nodes) for block in blocks[3:-1]] == [34] * 9


def test_what_was_opened_long_ago_closes_when_there_would_be_too_much(large):
    view = Unfolded()
    groups = [group for group in large.groups if len(ancestors(group)) == 3]
    for group in groups[:80]:
        view = opened(large, view, group)
    assert groups[79] in view.open
    assert groups[0] not in view.open
    assert view.root == ""
    assert closed(view, groups[79]).open == tuple(each for each in view.open if each != groups[79])
    outer = ancestors(groups[79])[1]
    assert not any(outer in ancestors(each) for each in closed(view, outer).open)
    assert closed(view, "") == Unfolded()


def test_a_group_whose_surroundings_are_too_much_fills_the_picture():
    nodes = [node(f"{'/'.join('abcdefghijklmnop'[:depth])}/x{at}") for depth in range(1, 17) for at in range(22)]
    tree = group_nodes(nodes)
    deepest = max(tree.groups, key=lambda each: len(ancestors(each)))
    view = opened(tree, Unfolded(), deepest)
    assert view.root not in ("", deepest)
    assert len(scene(tree, view).boxes) <= MOST_BOXES
    up = closed(view, view.root)
    assert up.root == ancestors(view.root)[-2]
    desk = GraphDesk("k", view=view)
    take(desk, tree, Told(1, "fill", "g"))
    assert desk.view.root == ""
    assert len(scene(tree, desk.view).boxes) <= MOST_BOXES


def test_fault_12_events_are_taken_once_each_and_what_is_no_event_is_nothing(large):
    desk = GraphDesk("k")
    for number, verb, on in ((1, "pick", "n3"), (2, "open", "g0"), (3, "find", "B7_1_4")):
        take(desk, large, Told(number, verb, on))
    assert (desk.picked, desk.view.open, desk.acknowledged) == (large.nodes[3].id, ("", "0"), 3)
    words, found = desk.found
    assert (words, large.nodes[found[0]].id) == ("B7_1_4", "b7_1_4")
    for on in ("n10000", "n-1", "nx", "g99", "", "n³", "<img>"):
        for verb in ("pick", "open", "close", "fill", "show"):
            take(desk, large, Told(4, verb, on))
    assert (desk.picked, desk.view.open) == (large.nodes[3].id, ("", "0"))


def test_showing_a_node_opens_the_groups_around_it_and_goes_there(large):
    desk = GraphDesk("k")
    desk.show(large, "b249_2_12")
    assert desk.picked == "b249_2_12"
    assert desk.go == (1, f"n{large.position['b249_2_12']}")
    assert desk.go[1] in {box.key for box in scene(large, desk.view).boxes}
    desk.show(large, "nobody")
    assert desk.go[0] == 1


NODES = [
    node("a", op_type="Conv"),
    node("b", "a"),
    node("c", "b", op_type="Conv"),
    node("d", "c", element_type="int64"),
]
LEVELS = {"a": "high", "b": "low", "c": "medium"}


def call(name, time, binds):
    times = Interval(low=time, typical=time, high=time) if time is not None else None
    return CallCost(node_ids=(name,), unit="npu", time=times, binds=binds, mend="", bytes_by_memory={})


COSTS = Estimate(
    calls=(call("a", 80, "compute"), call("b", 15, "bandwidth"), call("c", 5, "bandwidth"), call("d", None, "unknown")),
    total=None, bytes_by_memory={}, unknown=(),
)  # fmt: skip
POLICY = Policy(
    actions=tuple(
        PolicyAction(node_id=name, action="quantize", nodes=(name,), risk=Risk(level=level, facts=()))
        for name, level in LEVELS.items()
    )
)  # fmt: skip


def test_a_box_says_in_shape_and_word_what_its_colour_says():
    by_time = painting("time", NODES, COSTS, None)
    assert (by_time.of((0,)), by_time.of((2,))) == (Paint("share0", "█", "80.0%"), Paint("share2", "▄", "5.0%"))
    assert by_time.of((1, 2, 3)) == Paint("share1", "▆", "20.0% + ?")
    assert by_time.of((3,)) == Paint("none", "?", "unknown")
    assert by_time.how == "predicted"
    by_wall = painting("wall", NODES, COSTS, None)
    assert by_wall.of((1, 2)) == Paint("wall-bandwidth", "●", "bandwidth")
    assert by_wall.of((0, 1, 2, 3)) == Paint("wall-compute", "▲", "mostly compute")
    by_risk = painting("risk", NODES, None, POLICY)
    assert by_risk.of((1, 0, 3)) == Paint("high", "▲", "high × 1")
    assert (by_risk.of((3,)), by_risk.of((2,))) == (Paint("none", "·", "no action"), Paint("medium", "◆", "medium"))
    for each in (by_time, by_wall, by_risk, painting("precision", NODES, None, POLICY)):
        shapes = [paint.shape for paint in each.legend]
        assert all(paint.shape and paint.word for paint in each.legend)
        assert len(set(shapes)) == len(shapes)  # colour is never the only sign


def test_without_what_it_needs_there_is_no_painting():
    assert painting("time", NODES, None, POLICY) is None
    assert painting("wall", NODES, None, POLICY) is None
    assert painting("risk", NODES, COSTS, None) is None


def test_precision_is_what_people_left_of_the_policy():
    assert precisions(NODES, None) == ("float32", "float32", "float32", "int64")
    assert precisions(NODES, POLICY) == ("int8", "int8", "int8", "int64")
    plain = POLICY.plain()
    plain["actions"][0]["override"] = False
    plain["actions"][1]["override"] = {"bit_width": 4}
    left = Policy.from_plain(plain)
    assert precisions(NODES, left) == ("float32", "int4", "int8", "int64")
    assert painting("risk", NODES, None, left).of((0,)).tone == "none"
    assert painting("precision", NODES, None, left).of((0, 1, 2)).word == "float32 1 · int4 1 …"
    assert actions_on(POLICY, {"a", "d"}) == {"a": ("quantize@a",)}
