import random

import pytest

from metainfer_core.graph.groups import DEEPEST, MOST_CHILDREN, Group, ancestors, group_nodes, key, links, module_path
from metainfer_core.graph.summary import NodeSummary


def node(name, *reads, op_type="Relu"):
    return NodeSummary(
        id=name, op_type=op_type, macs=0, flops=0, input_bytes=0, output_bytes=0, parameter_bytes=0, moved_bytes=0,
        live_bytes=0, output_shapes=((1,),), element_type="float32", reads=reads,
    )  # fmt: skip


def chain(count, prefix="n"):
    return [node(f"{prefix}{at}", *([f"{prefix}{at - 1}"] if at else [])) for at in range(count)]


def blocks(count, branch=3, name=str):
    """Blocks of two branches between a split and a join, one after the other."""
    nodes = [node("start", op_type="Conv")]
    last = "start"
    for number in range(count):
        ends = []
        for side in ("a", "b"):
            before = last
            for step in range(branch):
                this = name(f"block{number}/{side}/{step}")
                nodes.append(node(this, before, op_type="Conv"))
                before = this
            ends.append(before)
        last = name(f"block{number}/join")
        nodes.append(node(last, *ends, op_type="Add"))
    return nodes


def all_groups(tree):
    return list(tree.groups.values())


def check(tree):
    """Every node once, every edge downward within each group, and few children each."""
    for group in all_groups(tree):
        members = [node for child in group.children for node in ((child,) if isinstance(child, int) else child.nodes)]
        assert sorted(members) == sorted(group.nodes)
        assert len(members) == len(set(members))
        assert 1 <= len(group.children) <= MOST_CHILDREN
        place = {key(child): at for at, child in enumerate(group.children)}
        for producer, reader in links(tree, group).within:
            assert place[producer] < place[reader], (group.id, producer, reader)
    assert sorted(tree.root.nodes) == list(range(len(tree.nodes)))
    assert set(tree.home) == {each.id for each in tree.nodes}
    assert all(tree.position[each.id] in tree.groups[tree.home[each.id]].children for each in tree.nodes)


def names(group):
    return [child.name if isinstance(child, Group) else child for child in group.children]


def test_a_small_graph_is_shown_as_it_is():
    tree = group_nodes(chain(MOST_CHILDREN))
    assert names(tree.root) == list(range(MOST_CHILDREN))
    assert list(tree.groups) == [""]
    assert group_nodes([]).root.children == ()


def test_modules_that_names_speak_of_are_the_groups():
    nodes, last = [], None
    for layer in range(4):
        for part in ("attention/q", "attention/k", "mlp/up", "mlp/down"):
            for op_type in ("MatMul", "Add"):
                name = f"/model/layer.{layer}/{part}/{op_type}"
                nodes.append(node(name, *([last] if last else []), op_type=op_type))
                last = name
    tree = group_nodes(nodes)
    check(tree)
    assert names(tree.root) == [f"layer.{layer}" for layer in range(4)]
    assert [len(group.nodes) for group in tree.root.children] == [8] * 4
    assert tree.home["/model/layer.2/mlp/up/Add"] == "2"


def test_many_modules_are_put_together_evenly_and_say_which():
    nodes = []
    for layer in range(100):
        nodes += [node(f"/layer.{layer}/{at}", *([nodes[-1].id] if nodes else [])) for at in range(5)]
    tree = group_nodes(nodes)
    check(tree)
    assert names(tree.root)[0] == "layer.0 … layer.9"
    assert [len(group.nodes) for group in tree.root.children] == [50] * 10
    assert names(tree.root.children[0]) == [f"layer.{layer}" for layer in range(10)]


def test_names_that_hold_no_modules_leave_it_to_the_wiring():
    assert module_path("Conv@1") == ()
    assert module_path("/a/b/Conv") == ("a", "b")
    assert module_path("a/x;b/y/z") == ("a",)
    each_its_own = group_nodes([node(f"m{at}/op", *([f"m{at - 1}/op"] if at else [])) for at in range(60)])
    assert names(each_its_own.root)[0] == "Relu … Relu"


def test_blocks_between_branch_and_join_are_groups():
    tree = group_nodes(blocks(5, branch=3, name=lambda each: each.replace("/", "_")))
    check(tree)
    assert names(tree.root) == [0, *["Conv … Add"] * 5]
    assert [len(group.nodes) for group in tree.root.children[1:]] == [7] * 5


def test_the_branches_of_a_large_block_are_groups_of_their_own():
    tree = group_nodes(blocks(1, branch=20, name=lambda each: each.replace("/", "_")))
    check(tree)
    (block,) = (child for child in tree.root.children if isinstance(child, Group))
    assert [len(child.nodes) if isinstance(child, Group) else 1 for child in block.children] == [20, 20, 1]
    assert {tree.nodes[at].id.split("_")[1] for at in block.children[0].nodes} == {"a"}


def test_branches_that_a_file_holds_in_turn_are_still_told_apart():
    nodes = [node("start")]
    for step in range(20):
        nodes += [node(f"{side}{step}", f"{side}{step - 1}" if step else "start") for side in "ab"]
    nodes.append(node("join", "a19", "b19"))
    tree = group_nodes(nodes)
    check(tree)
    (block,) = (child for child in tree.root.children if isinstance(child, Group))
    assert {tree.nodes[at].id[0] for at in block.children[0].nodes} == {"a"}


@pytest.mark.parametrize("seed", range(12))
def test_any_graph_is_divided_without_cycles_into_few_at_a_time(seed):
    random_of = random.Random(seed)
    count = random_of.choice([40, 300, 900])
    reach = random_of.choice([2, 10, count])
    nodes = []
    for at in range(count):
        reads = {random_of.randrange(max(0, at - reach), at) for _ in range(random_of.randrange(4))} if at else ()
        name = f"m{at // 7 % 5}/x{at // 3}/{at}" if seed % 2 else f"n{at}"
        nodes.append(node(name, *(nodes[read].id for read in sorted(reads))))
    tree = group_nodes(nodes)
    check(tree)
    assert tree == group_nodes(nodes)


@pytest.mark.parametrize(
    "nodes",
    [
        [node(f"s{at}") for at in range(2000)],
        chain(2000),
        [node("hub"), *(node(f"r{at}", "hub") for at in range(1000)), node("all", *(f"r{at}" for at in range(1000)))],
        [node("n0"), node("n1", "n0"), *(node(f"n{at}", f"n{at - 1}", f"n{at - 2}") for at in range(2, 1500))],
        [
            node("m"),
            node("c0", "m"),
            *(node(f"c{at}", f"c{at - 1}", "m") for at in range(1, 1500)),
        ],
    ],
    ids=["apart", "chain", "star", "ladder", "one node that all read"],
)
def test_no_wiring_makes_a_deep_tree(nodes):
    tree = group_nodes(nodes)
    check(tree)
    assert max(len(ancestors(each)) for each in tree.groups) <= DEEPEST + 4


def test_links_count_tensors_and_tell_what_leads_out():
    nodes = [node("x"), node("y"), node("p/a", "x", "y"), node("p/b", "x"), node("p/c", "p/a", "p/b"), node("z", "p/c")]
    tree = group_nodes([*nodes, *chain(30)])
    inner = Group("9", "p", (2, 3, 4), (2, Group("9.1", "bc", (3, 4), (3, 4))))
    found = links(tree, inner)
    assert found.within == {("n2", "g9.1"): 1}
    assert (found.enters, found.leaves) == (frozenset({"n2", "g9.1"}), frozenset({"g9.1"}))
    outer = Group("", "", (0, 1, 2, 3, 4, 5), (Group("0", "xy", (0, 1), (0, 1)), inner, 5))
    assert links(tree, outer).within == {("g0", "g9"): 2, ("g9", "n5"): 1}
