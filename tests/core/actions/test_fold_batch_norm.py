from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest
from action_bench import keeps_promise, model_of, ops, proposed, refusal, rewritten, spec_of

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.fold_batch_norm import FoldBatchNorm
from metainfer_core.actions.rewiring import FROM, add_constant, node, numbers_of, set_input

KIND, SPEC = FoldBatchNorm(), spec_of()
CONV_BN = """
    m (float[1,3,8,8] x, float[4,3,3,3] w_c, float[4] w_gamma, float[4] w_beta, float[4] w_mean, float[4] w_variance)
        => (float[1,4,6,6] y) {
        [conv] c = Conv (x, w_c)
        [bn] b = BatchNormalization <epsilon = 0.5> (c, w_gamma, w_beta, w_mean, w_variance)
        [relu] y = Relu (b)
    }"""


def test_fold_keeps_outputs_and_removes_the_operator() -> None:
    model = model_of(CONV_BN)
    (action,), refusals = proposed(KIND, model, SPEC)
    folded = rewritten(KIND, model, SPEC, [action])
    assert action.nodes == ("conv", "bn")
    assert refusals == []
    assert ops(folded) == ["Conv", "Relu"]
    assert ops(model) == ["Conv", "BatchNormalization", "Relu"]  # the caller's model is untouched
    assert node(folded, "conv").metadata_props[FROM] == "conv,bn"
    assert sorted(folded.graph.initializers) == ["conv.folded_bias", "conv.folded_weight"]
    assert keeps_promise(KIND, model, folded)
    assert KIND.sentence(action) == "Fold bn into the weights and bias of conv."


@pytest.mark.parametrize("group", [1, 2])
def test_fold_into_transposed_convolution_with_groups(group: int) -> None:
    model = model_of(f"""
        m (float[1,4,5,5] x, float[4,{6 // group},3,3] w_c, float[6] w_bias, float[6] w_gamma, float[6] w_beta,
           float[6] w_mean, float[6] w_variance) => (float[1,6,7,7] y) {{
            [up] c = ConvTranspose <group = {group}> (x, w_c, w_bias)
            [bn] y = BatchNormalization (c, w_gamma, w_beta, w_mean, w_variance)
        }}""")
    (action,), _ = proposed(KIND, model, SPEC)
    folded = rewritten(KIND, model, SPEC, [action])
    assert ops(folded) == ["ConvTranspose"]
    assert folded.graph.outputs[0].name == "y"
    assert keeps_promise(KIND, model, folded)


def test_the_plain_form_names_the_conv_alone() -> None:
    model = model_of(CONV_BN)
    action = Action(kind="fold_batch_norm", nodes=("conv",))
    assert refusal(KIND, model, SPEC, action) is None
    assert keeps_promise(KIND, model, rewritten(KIND, model, SPEC, [action]))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            "[bn] b = BatchNormalization (c, w_gamma, w_beta, w_mean, w_variance) [add] y = Add (b, c)",
            "c is also read by another node, which would then see the normalised values.",
        ),
        (
            "[m] m2 = Mul (w_mean, s) [bn] y = BatchNormalization (c, w_gamma, w_beta, m2, w_variance)",
            "m2 is not a constant, so the folded weights cannot be computed now.",
        ),
        (
            "[bn] y = BatchNormalization <epsilon = -9.0> (c, w_gamma, w_beta, w_mean, w_variance)",
            "bn has a channel whose variance plus epsilon is not positive: its gain is not a number.",
        ),
    ],
)  # fmt: skip
def test_refusals(body: str, reason: str) -> None:
    model = model_of(f"""
        m (float[1,3,8,8] x, float[1] s, float[4,3,3,3] w_c, float[4] w_gamma, float[4] w_beta, float[4] w_mean,
           float[4] w_variance) => (float[1,4,6,6] y) {{ [conv] c = Conv (x, w_c) {body} }}""")
    assert proposed(KIND, model, SPEC) == ([], [reason])


def test_an_output_of_the_model_stays() -> None:
    model = model_of(CONV_BN.replace("=> (float[1,4,6,6] y)", "=> (float[1,4,6,6] y, float[1,4,6,6] c)"))
    assert proposed(KIND, model, SPEC) == ([], ["c is an output of the model, whose values must stay."])


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        (("relu",), "relu is Relu; only Conv and ConvTranspose take a batch norm into their weights."),
        (("conv", "relu"), "conv is followed by bn (BatchNormalization), not by the batch norm to fold."),
        (("nowhere",), "The model has no node nowhere."),
    ],
)
def test_overrides_meet_the_same_laws(nodes: tuple[str, ...], reason: str) -> None:
    assert refusal(KIND, model_of(CONV_BN), SPEC, Action(kind="fold_batch_norm", nodes=nodes)) == reason


def _tampered(model: ir.Model, index: int, change: float) -> ir.Model:
    folded = rewritten(KIND, model, SPEC, proposed(KIND, model, SPEC)[0])
    conv = node(folded, "conv")
    set_input(conv, index, add_constant(folded, "planted", numbers_of(conv.inputs[index]) * np.float32(change)))
    return folded


@pytest.mark.parametrize(("index", "change"), [(1, 1.001), (2, 1.01), (2, np.nan)])
def test_planted_mistakes_break_the_promise(index: int, change: float) -> None:
    model = model_of(CONV_BN)
    assert keeps_promise(KIND, model, _tampered(model, index, 1.0))
    assert not keeps_promise(KIND, model, _tampered(model, index, change))


def test_a_fold_that_forgets_epsilon_is_caught() -> None:
    model = model_of(CONV_BN)
    wrong = model.clone()
    node(wrong, "bn").attributes["epsilon"] = ir.AttrFloat32("epsilon", 1e-5)
    assert not keeps_promise(KIND, model, rewritten(KIND, wrong, SPEC, proposed(KIND, wrong, SPEC)[0]))
