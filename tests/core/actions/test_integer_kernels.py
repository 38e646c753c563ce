"""What this package calls an integer form must be one integer kernel when it is lowered, and a fusion one kernel."""

from __future__ import annotations

import onnx_ir as ir
import pytest
from action_bench import calibrated, model_of, proposed, rewritten, spec_of

from metainfer_core.actions.action import Action
from metainfer_core.actions.activations import ACTIVATIONS
from metainfer_core.actions.integer_operators import ROLES
from metainfer_core.actions.kinds.fuse import LEADERS, Fuse
from metainfer_core.actions.kinds.quantize import Quantize
from metainfer_core.numerics.lower import lower

SPEC = spec_of()
CONVERSIONS = ("quantize_int8", "dequantize_int8")

# The node `n` reads `c`, which a quantized Conv makes.
MAP = "float[1,4,6,6]"
NODES: dict[str, tuple[str, str]] = {
    "Conv": ("Conv (c, w_k)", "float[1,8,4,4]"),
    "Gemm": ("Gemm (f, w_g, w_b)", "float[1,5]"),
    "MatMul": ("MatMul (f, w_g)", "float[1,5]"),
    "Add": ("Add (c, r)", MAP),
    "Sub": ("Sub (c, r)", MAP),
    "Mul": ("Mul (c, r)", MAP),
    "AveragePool": ("AveragePool <kernel_shape = [2,2], strides = [2,2]> (c)", "float[1,4,3,3]"),
    "GlobalAveragePool": ("GlobalAveragePool (c)", "float[1,4,1,1]"),
    "ReduceMean": ("ReduceMean (c, planes)", "float[1,4,1,1]"),
    "MaxPool": ("MaxPool <kernel_shape = [2,2], strides = [2,2]> (c)", "float[1,4,3,3]"),
    "GlobalMaxPool": ("GlobalMaxPool (c)", "float[1,4,1,1]"),
    "Reshape": ("Reshape (c, shape)", "float[2,72]"),
    "Flatten": ("Flatten (c)", "float[1,144]"),
    "Squeeze": ("Squeeze (c, first)", "float[4,6,6]"),
    "Unsqueeze": ("Unsqueeze (c, first)", "float[1,1,4,6,6]"),
    "Transpose": ("Transpose <perm = [0,2,3,1]> (c)", "float[1,6,6,4]"),
    "Slice": ("Slice (c, one, three, axis)", "float[1,2,6,6]"),
    "Split": ("Split <axis = 1, num_outputs = 2> (c)", "float[1,2,6,6]"),
    "DepthToSpace": ("DepthToSpace <blocksize = 2> (c)", "float[1,1,12,12]"),
    "SpaceToDepth": ("SpaceToDepth <blocksize = 2> (c)", "float[1,16,3,3]"),
    "Pad": ("Pad (c, pads)", "float[1,4,8,8]"),
    "Gather": ("Gather <axis = 1> (c, picks)", "float[1,3,6,6]"),
    "Concat": ("Concat <axis = 1> (c, r)", "float[1,8,6,6]"),
    "Clip": ("Clip (c, low, high)", MAP),
    "Sqrt": ("Sqrt (p)", MAP),
    **{op: (f"{op} (c)", MAP) for op, role in ROLES.items() if role == "activation" and op not in ("Clip", "Sqrt")},
}
CONSTANTS = """<int64[2] shape = {2, 72}, int64[1] first = {0}, int64[1] one = {1}, int64[1] three = {3},
    int64[1] axis = {1}, int64[8] pads = {0,0,1,1,0,0,1,1}, int64[3] picks = {3, 0, 2}, float low = {-0.5},
    float high = {0.5}, int64[2] planes = {2, 3}>"""


def model_with(op_type: str, written: str = "") -> ir.Model:
    call, result = NODES[op_type]
    call = written or call
    outputs = "y, y2" if op_type == "Split" else "y"
    more = ", float[1,2,6,6] y2" if op_type == "Split" else ""
    return model_of(f"""<ir_version: 10, opset_import: ["" : 21]>
        m (float[1,3,6,6] x, float[4,3,1,1] w_c, float[4,3,1,1] w_r, float[8,4,3,3] w_k, float[144,5] w_g, float[5] w_b)
            => ({result} y{more}) {CONSTANTS} {{
            [conv] c = Conv (x, w_c) [other] r = Conv (x, w_r) [flat] f = Flatten (c) [plus] p = Relu (c)
            [n] {outputs} = {call} }}""")


def test_every_role_has_a_model() -> None:
    assert set(NODES) == set(ROLES) - {"Identity"}  # preprocessing takes Identity out


@pytest.mark.parametrize("mode", ["reflect", "edge", "wrap"])
def test_a_pad_that_repeats_values_keeps_their_integers(mode: str) -> None:
    assert_is_an_integer_kernel(model_with("Pad", f'Pad <mode = "{mode}"> (c, pads)'))


def test_a_pad_with_another_number_than_0_stays_float() -> None:
    model = model_with("Pad", "Pad (c, pads, low)")
    _, reasons = proposed(Quantize(), model, SPEC, calibrated(model))
    assert "n pads with other values than 0, which the input's scale need not hold." in reasons


@pytest.mark.parametrize("op_type", sorted(NODES))
def test_an_integer_form_is_an_integer_kernel(op_type: str) -> None:
    assert_is_an_integer_kernel(model_with(op_type))


def assert_is_an_integer_kernel(model: ir.Model) -> None:
    actions, _ = proposed(Quantize(), model, SPEC, calibrated(model))
    assert "n" in {action.nodes[0] for action in actions}
    program = lower(rewritten(Quantize(), model, SPEC, actions)).program
    tensors = {tensor.name: tensor for tensor in program.tensors}
    (step,) = [step for step in program.steps if "n" in step.node_ids and step.kernel not in CONVERSIONS][:1]
    types = {tensors[name].element_type for name in (step.inputs[0], *step.outputs)}
    assert types == {"int8"}


@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
@pytest.mark.parametrize("leader", sorted(LEADERS))
def test_a_fusion_is_one_kernel_in_float_and_in_int8(leader: str, activation: str) -> None:
    call = {
        "Conv": "Conv (x, w_c)",
        "ConvTranspose": "ConvTranspose (x, w_t)",
        "Gemm": "Gemm (z, w_g)",
        "MatMul": "MatMul (z, w_g)",
    }.get(leader, f"{leader} (a, b)")
    result = "float[1,5]" if leader in ("Gemm", "MatMul") else "float[1,4,6,6]"
    limits = ", low, high" if activation == "Clip" else ""
    model = model_of(f"""<ir_version: 10, opset_import: ["" : 21]>
        m (float[1,3,6,6] x, float[1,8] z, float[4,3,1,1] w_a, float[4,3,1,1] w_b, float[4,3,1,1] w_c,
           float[3,4,1,1] w_t, float[8,5] w_g) => ({result} y) {CONSTANTS} {{
            [one] a = Conv (x, w_a) [two] b = Conv (x, w_b)
            [lead] l = {call} [follow] y = {activation} (l{limits}) }}""")
    action = Action(kind="fuse", nodes=("lead", "follow"), params={"with": ("follow",)})
    fused = rewritten(Fuse(), model, SPEC, [action])
    assert [step.node_ids for step in lower(fused).program.steps if "lead" in step.node_ids] == [("lead", "follow")]
    if leader == "ConvTranspose":
        return  # it has no integer form
    numeric, _ = proposed(Quantize(), fused, SPEC, calibrated(model))
    program = lower(rewritten(Quantize(), fused, SPEC, numeric)).program
    (step,) = [step for step in program.steps if "lead" in step.node_ids]
    assert "follow" in step.node_ids
    assert step.kernel.endswith("_int8")
