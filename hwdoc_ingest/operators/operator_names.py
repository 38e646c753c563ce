"""What documents call operators, as ONNX operators: one name, or the chain of a fused one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_ONNX = """
Abs Acos Acosh Add AffineGrid And ArgMax ArgMin Asin Asinh Atan Atanh Attention AveragePool BatchNormalization
BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast CastLike Ceil Celu Clip Compress Concat Constant
ConstantOfShape Conv ConvInteger ConvTranspose Cos Cosh CumSum DeformConv DepthToSpace DequantizeLinear Det Div
Dropout Einsum Elu Equal Erf Exp Expand EyeLike Flatten Floor GRU Gather GatherElements GatherND Gelu Gemm
GlobalAveragePool GlobalLpPool GlobalMaxPool Greater GreaterOrEqual GridSample GroupNormalization HardSigmoid
HardSwish Hardmax Identity InstanceNormalization IsInf IsNaN LRN LSTM LayerNormalization LeakyRelu Less
LessOrEqual Log LogSoftmax LpNormalization LpPool MatMul MatMulInteger Max MaxPool MaxRoiPool MaxUnpool Mean
MeanVarianceNormalization Min Mish Mod Mul Multinomial Neg NonMaxSuppression NonZero Not OneHot Or PRelu Pad Pow
QLinearConv QLinearMatMul QuantizeLinear RMSNormalization RNN RandomNormal Range Reciprocal ReduceL1 ReduceL2
ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Reshape
Resize ReverseSequence RoiAlign Round STFT Scatter ScatterElements ScatterND Selu Shape Shrink Sigmoid Sign Sin
Sinh Size Slice Softmax Softplus Softsign SpaceToDepth Split Sqrt Squeeze Sub Sum Swish Tan Tanh ThresholdedRelu
Tile TopK Transpose Trilu Unique Unsqueeze Upsample Where Xor
"""
ONNX_OPERATORS = frozenset(_ONNX.split())
_ALIASES: Mapping[str, str] = {
    "convolution": "Conv",
    "conv1d": "Conv",
    "conv2d": "Conv",
    "convolution2d": "Conv",
    "2dconvolution": "Conv",
    "depthwiseconvolution": "Conv",
    "depthwiseconv": "Conv",
    "depthwiseconv2d": "Conv",
    "dwconv": "Conv",
    "convtranpose": "ConvTranspose",
    "transposeconv": "ConvTranspose",
    "transposeconv2d": "ConvTranspose",
    "transposedconvolution": "ConvTranspose",
    "deconvolution": "ConvTranspose",
    "deconv": "ConvTranspose",
    "fullyconnected": "Gemm",
    "dense": "Gemm",
    "innerproduct": "Gemm",
    "averagepooling": "AveragePool",
    "averagepool2d": "AveragePool",
    "avgpool": "AveragePool",
    "avgpool2d": "AveragePool",
    "maxpooling": "MaxPool",
    "maxpool2d": "MaxPool",
    "globalaveragepooling": "GlobalAveragePool",
    "globalavgpool": "GlobalAveragePool",
    "globalmaxpooling": "GlobalMaxPool",
    "batchnorm": "BatchNormalization",
    "layernorm": "LayerNormalization",
    "instancenorm": "InstanceNormalization",
    "concatenation": "Concat",
    "concatenate": "Concat",
    "elementwiseadd": "Add",
    "eltwiseadd": "Add",
    "addition": "Add",
    "elementwisemul": "Mul",
    "multiply": "Mul",
    "multiplication": "Mul",
    "subtraction": "Sub",
    "subtract": "Sub",
    "division": "Div",
    "maximum": "Max",
    "minimum": "Min",
    "relu6": "Clip",
    "logistic": "Sigmoid",
    "silu": "Swish",
    "resizebilinear": "Resize",
    "resizenearestneighbor": "Resize",
    "padding": "Pad",
    "stridedslice": "Slice",
    "exswish": "Swish",
    "exmish": "Mish",
    "exgelu": "Gelu",
    "exsoftmax13": "Softmax",
    "exhardmax13": "Hardmax",
}
_OTHER_SHAPES: Mapping[str, tuple[str, ...]] = {
    "exmatmul": ("MatMul",),
    "exnorm": ("LayerNormalization", "RMSNormalization", "MeanVarianceNormalization"),
}
"""A vendor's own operators that do the work of ONNX operators on tensors of another shape."""


@dataclass(frozen=True)
class Operator:
    """What a document's name means.

    Args:
        key: Under which its rules stand: the ONNX operator, else the document's own name.
        chain: The ONNX operators that it does as one; several for a fused one; none where none is known.
        supports: ONNX operators that it serves for.
        depthwise: Whether it is the convolution whose groups are its channels.
    """

    key: str
    chain: tuple[str, ...] = ()
    supports: tuple[str, ...] = ()
    depthwise: bool = False

    @property
    def is_fused(self) -> bool:
        """Whether it does several operators as one."""
        return len(self.chain) > 1

    @property
    def is_known(self) -> bool:
        """Whether the name means an operator of ONNX."""
        return bool(self.supports) or self.is_fused


_KNOWN = {name.lower(): name for name in ONNX_OPERATORS} | dict(_ALIASES)
_IN_CHAINS = sorted((name for name in _KNOWN if len(name) > 2), key=len, reverse=True)
_NOT_IN_CHAINS = frozenset(("or", "if", "and", "not", "size", "sum", "abs", "log", "sign", "range"))


def operators_of(name: str) -> tuple[Operator, ...]:
    """What a name in a document means: `Convolution`, `Clip/ReLU6`, `ConvolutionPRelu/LeakyRelu`; empty if no name."""
    text = re.sub(r"\(.*?\)", "", name).strip()
    if not re.fullmatch(r"[A-Za-z][\w /,&+.-]{0,60}", text):
        return ()
    first, *others = (part.strip() for part in re.split(r"[/,]|\bor\b", text))
    found = [_operator(first)]
    for other in others:
        # `ConvolutionPRelu/LeakyRelu`: the second one stands in the place of the last of the chain
        operator = _operator(other)
        if found[0].is_fused and operator.is_known and not operator.is_fused:
            operator = Operator(
                key="+".join((*found[0].chain[:-1], operator.key)), chain=(*found[0].chain[:-1], operator.key)
            )
        found.append(operator)
    if not found[0].is_known:
        return (found[0],)
    return tuple({operator.key: operator for operator in found if operator.is_known}.values())


def _operator(name: str) -> Operator:
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    known = _KNOWN.get(plain) or _KNOWN.get(re.sub(r"[12]d$", "", plain))
    if known is not None:
        return Operator(known, (known,), (known,), depthwise=plain.startswith(("depthwise", "dw")))
    if plain in _OTHER_SHAPES:
        return Operator(_slug(name), (), _OTHER_SHAPES[plain])
    chain = _chain(plain)
    if len(chain) > 1:
        return Operator("+".join(chain), chain)
    return Operator(_slug(name))


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_")


def _chain(plain: str) -> tuple[str, ...]:
    """The operators that a name is put together from, the longest first; empty where a piece is none."""
    if not plain:
        return ()
    for piece in _IN_CHAINS:
        if plain.startswith(piece) and piece not in _NOT_IN_CHAINS:
            rest = _chain(plain[len(piece) :])
            if rest or plain == piece:
                return (_KNOWN[piece], *rest)
    return ()
