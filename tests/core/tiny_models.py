"""Small models as ONNX text, which any test imports: `imported("conv_bn_relu")` gives one as the product sees it.

Weights are seeded random numbers of a given scale, put in after the text is parsed: initializers are written in the
text as inputs whose names begin with `w_`.
"""

from __future__ import annotations

import zlib

import numpy as np
import onnx
import onnx.parser
from onnx import numpy_helper

from metainfer_core.graph.files.load import ImportedModel, import_model

HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'

TEXTS: dict[str, str] = {
    "conv_bn_relu": """
        conv_bn_relu (float[1,3,8,8] x, float[4,3,3,3] w_conv, float[4] w_bias, float[4] w_gamma, float[4] w_beta,
                      float[4] w_mean, float[4] w_variance) => (float[1,4,8,8] y) {
            [conv] c = Conv <pads = [1,1,1,1]> (x, w_conv, w_bias)
            [bn] b = BatchNormalization (c, w_gamma, w_beta, w_mean, w_variance)
            [relu] y = Relu (b)
        }""",
    "depthwise": """
        depthwise (float[1,6,8,8] x, float[6,1,3,3] w_dw, float[6] w_dw_bias, float[10,6,1,1] w_pw, float[10] w_pw_bias)
            => (float[1,10,4,4] y) {
            [dw] d = Conv <group = 6, pads = [1,1,1,1], strides = [2,2]> (x, w_dw, w_dw_bias)
            [dw_relu] r = Relu (d)
            [pw] y = Conv (r, w_pw, w_pw_bias)
        }""",
    "residual": """
        residual (float[1,4,8,8] x, float[4,4,3,3] w_a, float[4] w_a_bias, float[4,4,3,3] w_b, float[4] w_b_bias)
            => (float[1,4,8,8] y) {
            [conv_a] a = Conv <pads = [1,1,1,1]> (x, w_a, w_a_bias)
            [relu_a] ra = Relu (a)
            [conv_b] b = Conv <pads = [1,1,1,1]> (ra, w_b, w_b_bias)
            [add] s = Add (b, x)
            [relu] y = Relu (s)
        }""",
    "two_consumers": """
        two_consumers (float[1,3,6,6] x, float[4,3,3,3] w_conv, float[4] w_bias) => (float[1,4,4,4] y) {
            [conv] c = Conv (x, w_conv, w_bias)
            [relu] r = Relu (c)
            [add] y = Add (c, r)
        }""",
    "pool_two_consumers": """
        pool_two_consumers (float[1,3,6,6] x) => (float[1,3,3,3] y) {
            [pool] p = MaxPool <kernel_shape = [2,2], strides = [2,2]> (x)
            [relu] r = Relu (p)
            [add] y = Add (p, r)
        }""",
    "pad_two_consumers": """
        pad_two_consumers (float[1,2,6,6] x, float[3,2,3,3] w_three, float[3] w_three_bias, float[3,2,5,5] w_five,
                           float[3] w_five_bias) => (float[1,3,8,8] y, float[1,3,6,6] z)
            <int64[8] around = {0,0,2,2,0,0,2,2}> {
            [pad] p = Pad (x, around)
            [three] y = Conv (p, w_three, w_three_bias)
            [five] z = Conv (p, w_five, w_five_bias)
        }""",
    "inner_output": """
        inner_output (float[1,3,6,6] x, float[4,3,3,3] w_conv, float[4] w_bias)
            => (float[1,4,4,4] c, float[1,4,4,4] y) {
            [conv] c = Conv (x, w_conv, w_bias)
            [relu] y = Relu (c)
        }""",
    "gemm": """
        gemm (float[1,12] x, float[12,8] w_first, float[8] w_first_bias, float[5,8] w_second, float[5] w_second_bias)
            => (float[1,5] y) {
            [first] a = Gemm (x, w_first, w_first_bias)
            [relu] r = Relu (a)
            [second] g = Gemm <transB = 1> (r, w_second, w_second_bias)
            [softmax] y = Softmax (g)
        }""",
    "matmul_add": """
        matmul_add (float[2,7,16] x, float[16,8] w_matrix, float[8] w_bias) => (float[2,7,8] y) {
            [matmul] m = MatMul (x, w_matrix)
            [add] y = Add (m, w_bias)
        }""",
    "pools": """
        pools (float[1,4,9,9] x) => (float[1,4] y, float[1,4,8,8] z) {
            [max] m = MaxPool <kernel_shape = [3,3], strides = [2,2]> (x)
            [average] a = AveragePool <kernel_shape = [2,2], pads = [1,1,0,0], count_include_pad = 1> (m)
            [global] g = GlobalAveragePool (a)
            [flatten] y = Flatten (g)
            [small] z = MaxPool <kernel_shape = [2,2]> (x)
        }""",
    "concat": """
        concat (float[1,3,8,8] x, float[4,3,1,1] w_a, float[4] w_a_bias, float[2,3,1,1] w_b, float[2] w_b_bias)
            => (float[1,6,8,8] y) {
            [conv_a] a = Conv (x, w_a, w_a_bias)
            [conv_b] b = Conv (x, w_b, w_b_bias)
            [relu_a] ra = Relu (a)
            [sigmoid_b] sb = Sigmoid (b)
            [concat] y = Concat <axis = 1> (ra, sb)
        }""",
    "hard_swish_spelled_out": """
        hard_swish_spelled_out (float[1,3,8,8] x, float[5,3,3,3] w_conv, float[5] w_bias) => (float[1,5,6,6] y)
            <float three = {3.0}, float zero = {0.0}, float six = {6.0}> {
            [conv] c = Conv (x, w_conv, w_bias)
            [plus] p = Add (c, three)
            [clip] k = Clip (p, zero, six)
            [times] t = Mul (c, k)
            [divide] y = Div (t, six)
        }""",
    "squeeze_excite": """
        squeeze_excite (float[1,8,6,6] x, float[2,8,1,1] w_down, float[2] w_down_bias, float[8,2,1,1] w_up,
                        float[8] w_up_bias) => (float[1,8,6,6] y) {
            [pool] p = GlobalAveragePool (x)
            [down] d = Conv (p, w_down, w_down_bias)
            [relu] r = Relu (d)
            [up] u = Conv (r, w_up, w_up_bias)
            [gate] g = HardSigmoid <alpha = 0.2, beta = 0.5> (u)
            [scale] y = Mul (x, g)
        }""",
    "layer_norm_spelled_out": """
        layer_norm_spelled_out (float[1,7,16] x, float[16] w_gamma, float[16] w_beta) => (float[1,7,16] y)
            <float two = {2.0}, float eps = {0.00001}> {
            [mean] m = ReduceMean <axes = [-1]> (x)
            [centre] d = Sub (x, m)
            [square] q = Pow (d, two)
            [variance] v = ReduceMean <axes = [-1]> (q)
            [plus] e = Add (v, eps)
            [root] r = Sqrt (e)
            [norm] n = Div (d, r)
            [gain] s = Mul (n, w_gamma)
            [shift] y = Add (s, w_beta)
        }""",
    "dynamic_reshape": """
        dynamic_reshape (float[N,3,H,W] x, float[4,3,3,3] w_conv, float[4] w_bias) => (float[N,K] y)
            <int64 zero = {0}, int64[1] rest = {-1}, int64[1] axis = {0}> {
            [conv] c = Conv <pads = [1,1,1,1]> (x, w_conv, w_bias)
            [shape] s = Shape (c)
            [gather] n = Gather (s, zero)
            [unsqueeze] u = Unsqueeze (n, axis)
            [concat] t = Concat <axis = 0> (u, rest)
            [reshape] y = Reshape (c, t)
        }""",
    "lstm": """
        lstm (float[1,5,8] x, float[1,16,8] w_input, float[1,16,4] w_recurrent, float[1,32] w_bias,
              float[1,1,4] h, float[1,1,4] c) => (float[1,1,4] hn, float[1,1,4] cn, float[5,1,1,4] y)
            <int64[3] order = {5,1,8}, float[1,8] w_unused = {0,0,0,0,0,0,0,0}> {
            [reshape] r = Reshape (x, order)
            [lstm] y, hn, cn = LSTM <hidden_size = 4> (r, w_input, w_recurrent, w_bias, , h, c)
        }""",
}


def proto(name: str, seed: int = 0, scale: float = 0.5) -> onnx.ModelProto:
    """The named model with seeded random weights; variances (`w_variance`) are positive."""
    return from_text(HEADER + TEXTS[name], seed, scale)


def from_text(text: str, seed: int = 0, scale: float = 0.5) -> onnx.ModelProto:
    """A model from any ONNX text, with each input `w_...` turned into a seeded random initializer."""
    model = onnx.parser.parse_model(text if text.lstrip().startswith("<") else HEADER + text)
    inputs = list(model.graph.input)
    del model.graph.input[:]
    for value in inputs:
        if not value.name.startswith("w_"):
            model.graph.input.append(value)
            continue
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        draw = np.random.default_rng([seed, zlib.crc32(value.name.encode())])
        array = (draw.standard_normal(shape) * scale).astype(np.float32)
        if "variance" in value.name:
            array = np.abs(array) + np.float32(0.1)
        model.graph.initializer.append(numpy_helper.from_array(array, value.name))
    return model


def imported(name: str, seed: int = 0, scale: float = 0.5) -> ImportedModel:
    """The named model as `load_model` would give it."""
    return import_model(proto(name, seed, scale).SerializeToString(), name)


def random_inputs(model: onnx.ModelProto, samples: int = 1, seed: int = 0) -> list[dict[str, np.ndarray]]:
    """Seeded standard normal inputs for a model whose shapes are fixed; open dimensions get the extent 2."""
    draw = np.random.default_rng(seed)
    feeds = []
    for _ in range(samples):
        feed = {}
        for value in model.graph.input:
            shape = [dim.dim_value or 2 for dim in value.type.tensor_type.shape.dim]
            kind = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
            floating = np.issubdtype(kind, np.floating)
            feed[value.name] = (draw.standard_normal(shape) if floating else draw.integers(0, 100, shape)).astype(kind)
        feeds.append(feed)
    return feeds
