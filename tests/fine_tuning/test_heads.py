"""Attention with fewer heads: how it is found, parted anew and scaled."""

import numpy as np
import onnx.parser
import pytest

from fine_tuning.restructure import restructured
from metainfer_core.actions.rewiring import nodes_by_id, numbers_of
from metainfer_core.errors import UnsupportedError
from metainfer_core.graph.files.load import import_model
from metainfer_core.graph.static.preprocess import preprocess
from metainfer_core.policy.structure.attention import attention_of
from metainfer_core.policy.structure.change import StructureChange
from metainfer_core.verify.reference import run_reference

TEXT = """
attention (float[1,5,12] x) => (float[1,5,12] y)
    <float[1] scale = {0.5}, int64[4] parted = {1,5,3,4}, int64[3] joined = {1,5,12}> {
    [q_part] q4 = Reshape (x, parted)
    [k_part] k4 = Reshape (x, parted)
    [v_part] v4 = Reshape (x, parted)
    [q_turn] qt = Transpose <perm = [0,2,1,3]> (q4)
    [k_turn] kt = Transpose <perm = [0,2,3,1]> (k4)
    [v_turn] vt = Transpose <perm = [0,2,1,3]> (v4)
    [scores] s = MatMul (qt, kt)
    [scaled] ss = Mul (s, scale)
    [softmax] p = Softmax (ss)
    [weighted] w = MatMul (p, vt)
    [turn] wt = Transpose <perm = [0,2,1,3]> (w)
    [join] y = Reshape (wt, joined)
}"""


def prepared(text=TEXT):
    model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 20]>\n{text}')
    return preprocess(import_model(model.SerializeToString(), "attention").model).model


def by_hand(x, heads):
    """Attention of a sequence [tokens, width] with itself."""
    parts = x.reshape(len(x), heads, -1).transpose(1, 0, 2)
    scores = parts @ parts.transpose(0, 2, 1) / np.sqrt(parts.shape[-1])
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    weighted = shares / shares.sum(-1, keepdims=True) @ parts
    return weighted.transpose(1, 0, 2).reshape(len(x), -1)


def test_six_numbers_a_head_are_attended_to_as_six():
    old = prepared()
    found = attention_of(nodes_by_id(old)["softmax"])
    assert (found.heads, found.width, [str(node.name) for node, _ in found.scales]) == (3, 4, ["scaled"])
    names = tuple(str(node.name) for node in found.nodes)
    change = StructureChange(
        change="heads", grade="needs review", nodes=names, params={"from": 3, "to": 2}, sentence="", why=(), risk=""
    )
    new = restructured(old, (change,), lambda *_: np.empty(0), seed=0)
    x = np.random.default_rng(0).standard_normal((1, 5, 12)).astype(np.float32)
    for model, heads in ((old, 3), (new, 2)):
        np.testing.assert_allclose(run_reference(model, [{"x": x}])[0]["y"][0], by_hand(x[0], heads), rtol=1e-4)
    assert numbers_of(nodes_by_id(new)["scaled"].inputs[1]) == pytest.approx(1 / np.sqrt(6))
    wrong = StructureChange.from_plain({**change.plain(), "params": {"from": 3, "to": 5}})
    with pytest.raises(UnsupportedError, match="written in another way"):
        restructured(old, (wrong,), lambda *_: np.empty(0), seed=0)


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("Softmax (ss)", "Softmax <axis = 2> (ss)"),
        ("Mul (s, scale)", "Mul (s, s)"),
        ("Reshape (wt, joined)", "Reshape (ss, joined)"),
        ("[weighted] w = MatMul (p, vt)", "[weighted] w = MatMul (vt, p)"),
    ],
)
def test_what_only_looks_like_attention_is_none(part, other):
    text = TEXT.replace(part, other)
    try:
        model = prepared(text)
    except Exception:  # a product of other shapes
        return
    assert attention_of(nodes_by_id(model)["softmax"]) is None
