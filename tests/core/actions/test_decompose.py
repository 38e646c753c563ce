from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest
from action_bench import cpu, keeps_promise, model_of, npu, ops, proposed, refusal, rewritten, spec_of

from metainfer_core.actions.action import Action
from metainfer_core.actions.decompositions import DECOMPOSITIONS
from metainfer_core.actions.kinds.decompose import Decompose
from metainfer_core.actions.rewiring import FROM, UNIT, add_constant, node, numbers_of, set_input
from metainfer_core.spec.hardware_spec import HardwareSpec, Operators

KIND = Decompose()
BASIC = ("Add", "Sub", "Mul", "Div", "Exp", "Log", "Neg", "Abs", "Sqrt", "Erf", "Tanh", "Max", "Clip", "Relu")
BASIC += (
    "ReduceMax",
    "ReduceSum",
    "ReduceMean",
    "Reshape",
    "MatMul",
    "HardSigmoid",
    "Softplus",
    "Sigmoid",
    "Slice",
    "Concat",
    "AveragePool",
    "Pow",
)

ONE = "m (float[2,6,4,5] x) => (float[2,6,4,5] y) "
SCALED = "m (float[2,6,4,5] x, float[6] w_s, float[6] w_b) => (float[2,6,4,5] y) "
RECURRENT = (
    "m (float[3,2,5] x, float[{d},{g},5] w_i, float[{d},{g},{h}] w_r, float[{d},{b}] w_b, float[{d},2,{h}] w_h, "
    "float[{d},2,{h}] w_c) => ({out}) {{ [n] "
)
MODELS = {
    "Softmax": ONE + "{ [n] y = Softmax <axis = 1> (x) }",
    "LogSoftmax": ONE + "{ [n] y = LogSoftmax (x) }",
    "HardSwish": ONE + "{ [n] y = HardSwish (x) }",
    "HardSigmoid": ONE + "{ [n] y = HardSigmoid <alpha = 0.3, beta = 0.4> (x) }",
    "Sigmoid": ONE + "{ [n] y = Sigmoid (x) }",
    "Pow square": ONE + "<float two = {2.0}> { [n] y = Pow (x, two) }",
    "Pow cube": ONE + "<float three = {3.0}> { [n] y = Pow (x, three) }",
    "Pow root": ONE + "<float half = {0.5}> { [n] y = Pow (x, half) }",
    "Softplus": ONE + "{ [n] y = Softplus (x) }",
    "Mish": ONE + "{ [n] y = Mish (x) }",
    "Gelu": ONE + "{ [n] y = Gelu (x) }",
    "Gelu tanh": ONE + '{ [n] y = Gelu <approximate = "tanh"> (x) }',
    "LayerNormalization": "m (float[2,6,5] x, float[5] w_s, float[5] w_b) => (float[2,6,5] y) "
    "{ [n] y = LayerNormalization <epsilon = 0.01> (x, w_s, w_b) }",
    "InstanceNormalization": SCALED + "{ [n] y = InstanceNormalization <epsilon = 0.01> (x, w_s, w_b) }",
    "GroupNormalization": SCALED + "{ [n] y = GroupNormalization <num_groups = 3> (x, w_s, w_b) }",
    "BatchNormalization": "m (float[2,6,4,5] x, float[6] w_s, float[6] w_b, float[6] w_mean, float[6] w_variance) "
    "=> (float[2,6,4,5] y) { [n] y = BatchNormalization (x, w_s, w_b, w_mean, w_variance) }",
    "GlobalAveragePool": "m (float[2,6,4,5] x) => (float[2,6,1,1] y) { [n] y = GlobalAveragePool (x) }",
    "GlobalMaxPool": "m (float[2,6,4,5] x) => (float[2,6,1,1] y) { [n] y = GlobalMaxPool (x) }",
    "LRN": ONE + "{ [n] y = LRN <size = 3, alpha = 0.6, beta = 0.4, bias = 1.5> (x) }",
    "LRN wider than the channels": ONE + "{ [n] y = LRN <size = 9, alpha = 2.0> (x) }",
    "Gemm": "m (float[3,6] x, float[4,6] w_g, float[4] w_b) => (float[3,4] y) "
    "{ [n] y = Gemm <transB = 1, alpha = 0.5> (x, w_g, w_b) }",
    "LSTM": RECURRENT.format(d=1, g=16, b=32, h=4, out="float[3,1,2,4] y")
    + "y = LSTM <hidden_size = 4> (x, w_i, w_r, w_b) }",
    "LSTM both ways": RECURRENT.format(d=2, g=16, b=32, h=4, out="float[3,2,2,4] y, float[2,2,4] yh, float[2,2,4] yc")
    + 'y, yh, yc = LSTM <hidden_size = 4, direction = "bidirectional"> (x, w_i, w_r, w_b, , w_h, w_c) }',
    "LSTM last state alone": RECURRENT.format(d=1, g=16, b=32, h=4, out="float[1,2,4] y")
    + 'q, y = LSTM <hidden_size = 4, direction = "reverse"> (x, w_i, w_r, , , w_h) }',
    "GRU": RECURRENT.format(d=2, g=12, b=24, h=4, out="float[3,2,2,4] y, float[2,2,4] yh")
    + 'y, yh = GRU <hidden_size = 4, direction = "bidirectional"> (x, w_i, w_r, w_b) }',
    "GRU linear before reset": RECURRENT.format(d=2, g=12, b=24, h=4, out="float[3,2,2,4] y, float[2,2,4] yh")
    + 'y, yh = GRU <hidden_size = 4, direction = "bidirectional", linear_before_reset = 1> (x, w_i, w_r, w_b, , w_h) }',
    "LeakyRelu": ONE + "{ [n] y = LeakyRelu <alpha = 0.2> (x) }",
    "PRelu": "m (float[2,6,4,5] x, float[6,1,1] w_s) => (float[2,6,4,5] y) { [n] y = PRelu (x, w_s) }",
    "Elu": ONE + "{ [n] y = Elu <alpha = 0.7> (x) }",
    "Tanh": ONE + "{ [n] y = Tanh (x) }",
    "Relu": ONE + "{ [n] y = Relu (x) }",
    "Reciprocal": ONE + "{ [n] y = Reciprocal (x) }",
}


OPSET = '<ir_version: 10, opset_import: ["" : 21]>\n'


def text_of(case: str) -> str:
    return OPSET + MODELS[case]


def spec_without(*missing: str, also: tuple[str, ...] = ()) -> HardwareSpec:
    supported = tuple(op for op in (*BASIC, *also) if op not in missing)
    return spec_of(units={"cpu": cpu(operators=Operators(supported=supported))})


def test_every_decomposition_has_a_model() -> None:
    assert {case.split()[0] for case in MODELS} == set(DECOMPOSITIONS)


@pytest.mark.parametrize("case", sorted(MODELS))
def test_pieces_compute_the_same(case: str) -> None:
    op_type = case.split()[0]
    model = model_of(text_of(case))
    spec = spec_without(op_type)
    (action,), refusals = proposed(KIND, model, spec)
    adapted = rewritten(KIND, model, spec, [action])
    assert refusals == []
    assert action.nodes == ("n",)
    nothing_to_join = {"Concat"} if "alone" in case else set()
    assert set(ops(adapted)) == set(action.params["into"]) - nothing_to_join
    assert all(spec.compute_units["cpu"].operators.runs(op) for op in ops(adapted))
    assert {other.metadata_props[FROM] for other in adapted.graph} == {"n"}
    assert {other.metadata_props[UNIT] for other in adapted.graph} == {"cpu"}
    assert adapted.graph.outputs[0].name == "y"
    assert [tuple(value.shape) for value in adapted.graph.outputs] == [tuple(v.shape) for v in model.graph.outputs]
    assert keeps_promise(KIND, model, adapted)


@pytest.mark.parametrize("way", range(2))
@pytest.mark.parametrize("op_type", ["HardSwish", "Mish"])
def test_second_choices_work_too(op_type: str, way: int) -> None:
    model = model_of(text_of(op_type))
    pieces = DECOMPOSITIONS[op_type][way].pieces
    action = Action(kind="decompose", nodes=("n",), params={"into": pieces})
    spec = spec_of()
    assert keeps_promise(KIND, model, rewritten(KIND, model, spec, [action]))


@pytest.mark.parametrize("value", [-1e4, 1e4, 90.0, -90.0])
@pytest.mark.parametrize("op_type", ["Softmax", "LogSoftmax", "Sigmoid", "Softplus", "Mish", "Tanh"])
def test_great_inputs_do_not_overflow(op_type: str, value: float) -> None:
    text = (
        text_of(op_type)
        .replace(f"{op_type} <axis = 1> (x)", f"{op_type} (t)")
        .replace(f"{op_type} (x)", f"{op_type} (t)")
    )
    model = model_of(text.replace("{ [n]", f"<float big = {{{value}}}> {{ [m] t = Mul (x, big) [n]"))
    spec = spec_without(op_type)
    actions, _ = proposed(KIND, model, spec)
    assert keeps_promise(KIND, model, rewritten(KIND, model, spec, actions))


@pytest.mark.parametrize(
    "call",
    [
        "LSTM <hidden_size = 4, clip = 1.0> (x, w_i, w_r)",
        "LSTM <hidden_size = 4, input_forget = 1> (x, w_i, w_r)",
        'LSTM <hidden_size = 4, activations = ["Relu", "Tanh", "Tanh"]> (x, w_i, w_r)',
        "LSTM <hidden_size = 4> (x, w_i, w_r, w_b, lengths)",
    ],
)
def test_a_recurrence_of_another_form_is_left(call: str) -> None:
    head = RECURRENT.format(d=1, g=16, b=32, h=4, out="float[3,1,2,4] y").replace(
        "{ [n]", "<int32[2] lengths = {3, 2}> { [n]"
    )  # fmt: skip
    actions, refusals = proposed(KIND, model_of(f"{OPSET}{head}y = {call} }}"), spec_without("LSTM"))
    assert actions == []
    assert [
        told.endswith("No rewrite of LSTM into other operators is known, so one is missing here.") for told in refusals
    ] == [True]


def test_a_planted_mistake_in_a_recurrence_breaks_the_promise() -> None:
    model = model_of(text_of("LSTM"))
    (action,), _ = proposed(KIND, model, spec_without("LSTM"))
    adapted = rewritten(KIND, model, spec_without("LSTM"), [action])
    let_out = [other for other in adapted.graph if other.op_type == "Sigmoid"][-1]
    let_out.op_type = "Tanh"
    assert not keeps_promise(KIND, model, adapted)


def test_what_the_unit_runs_is_left() -> None:
    assert proposed(KIND, model_of(text_of("Softmax")), spec_of()) == ([], [])


def test_a_named_fallback_takes_what_has_no_rewrite() -> None:
    model = model_of("m (float[2,6] x) => (float[2,6] y) { [n] y = Selu (x) }")
    units = {"fast": npu(data_types=("float32",), macs_per_cycle={"float32": 512}, clock_hz=1e9,
                         operators=Operators(supported=("Relu",), fallback="cpu")), "cpu": cpu()}  # fmt: skip
    spec = spec_of(units=units)
    (action,), _ = proposed(KIND, model, spec)
    assert action.params == {"method": "fallback", "target_hw": "cpu"}
    assert action.why[0].spec_field == "compute_units.fast.operators.supported"
    adapted = rewritten(KIND, model, spec, [action])
    assert node(adapted, "n").metadata_props[UNIT] == "cpu"
    assert KIND.sentence(action) == "Run n on cpu, the fallback unit."


@pytest.mark.parametrize(
    ("op_type", "spec", "reason"),
    [
        (
            "Selu",
            spec_without("Selu"),
            "cpu does not run Selu (compute_units.cpu.operators.supported does not list it), and names no fallback. "
            "No rewrite of Selu into other operators is known, so one is missing here.",
        ),
        (
            "Sigmoid",
            spec_without("Sigmoid", "Neg", "Exp"),
            "cpu does not run Sigmoid (compute_units.cpu.operators.supported does not list it), and names no fallback. "
            "It could be computed by Neg, Exp, Add, Div, but compute_units.cpu.operators.supported lacks Neg, Exp: "
            "the list may be too narrow; add what cpu runs, or name a fallback.",
        ),
        (
            "Sigmoid",
            spec_of(units={"cpu": cpu(operators=Operators(unavailable=("Sigmoid", "Exp")))}),
            "cpu does not run Sigmoid (compute_units.cpu.operators.unavailable lists it as unavailable), "
            "and names no fallback. Its rewrite needs Exp, which compute_units.cpu.operators.unavailable bars.",
        ),
    ],
)
def test_refusals_tell_the_causes_apart(op_type: str, spec: HardwareSpec, reason: str) -> None:
    model = model_of(f"m (float[2,6] x) => (float[2,6] y) {{ [n] y = {op_type} (x) }}")
    assert proposed(KIND, model, spec) == ([], [reason])


def test_the_models_own_operator_is_named_as_such() -> None:
    model = model_of("m (float[2,6] x) => (float[2,6] y) { [n] y = Relu (x) }")
    node(model, "n").domain = "com.acme"
    node(model, "n").op_type = "Wobble"
    assert proposed(KIND, model, spec_of()) == (
        [],
        [
            "Wobble (n) is the model's own operator, of domain com.acme: "
            "give its definition with `meta-infer op-registry add`."
        ],
    )


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"into": ("Add",)}, "No rewrite of n (Softmax) into Add is known."),
        ({"target_hw": "moon"}, "The spec has no compute unit named moon (compute_units); it has cpu."),
        ({"method": "fallback"}, "A fallback needs a unit: target_hw is missing."),
        ({"target_hw": "cpu"}, "cpu does not run Exp (compute_units.cpu.operators)."),
        (
            {"method": "fallback", "target_hw": "cpu"},
            "cpu does not run Softmax (compute_units.cpu.operators.supported does not list it), and names no fallback.",
        ),
    ],
)
def test_overrides_meet_the_same_laws(params: dict[str, object], reason: str) -> None:
    model = model_of(text_of("Softmax"))
    action = Action(kind="decompose", nodes=("n",), params=params)
    assert refusal(KIND, model, spec_without("Softmax", "Exp"), action) == reason


def _decomposed(case: str) -> tuple[ir.Model, ir.Model]:
    model = model_of(text_of(case))
    spec = spec_without(case)
    return model, rewritten(KIND, model, spec, proposed(KIND, model, spec)[0])


def test_planted_mistakes_break_the_promise() -> None:
    model, wrong = _decomposed("Softmax")
    total = next(other for other in wrong.graph if other.op_type == "ReduceSum")
    set_input(total, 1, add_constant(wrong, "planted", np.array([2], dtype=np.int64)))  # the wrong axis
    assert not keeps_promise(KIND, model, wrong)

    model, wrong = _decomposed("LayerNormalization")
    epsilon = next(other for other in wrong.graph if other.op_type == "Add")
    set_input(epsilon, 1, add_constant(wrong, "planted", numbers_of(epsilon.inputs[1]) * np.float32(1.1)))
    assert not keeps_promise(KIND, model, wrong)

    model, wrong = _decomposed("LRN")
    pool = next(other for other in wrong.graph if other.op_type == "AveragePool")
    pool.attributes["count_include_pad"] = ir.AttrInt64("count_include_pad", 0)  # fewer channels at the ends
    assert not keeps_promise(KIND, model, wrong)

    model, wrong = _decomposed("GroupNormalization")
    grouped = next(other for other in wrong.graph if other.op_type == "Reshape")
    set_input(grouped, 1, add_constant(wrong, "planted", np.array([2, 2, 60], dtype=np.int64)))  # 2 groups, not 3
    assert not keeps_promise(KIND, model, wrong)
