"""What an integer kernel has to give, by plain exact arithmetic that shares nothing with the product."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator


class Oracle:
    """Runs a QDQ graph of one integer operator: exact sums, then one rounding, half up."""

    def __init__(self, proto: onnx.ModelProto, rounding: str = "half up") -> None:
        self.graph = proto.graph
        self.rounding = rounding
        self.constants = {t.name: numpy_helper.to_array(t) for t in proto.graph.initializer}
        self.producers = {output: node for node in proto.graph.node for output in node.output}

    def codes(self, feed: Mapping[str, np.ndarray]) -> np.ndarray:
        """The int8 (or uint8) codes that stand before the graph's last DequantizeLinear."""
        last = self.producers[self.graph.output[0].name]
        quantize = self.producers[last.input[0]]
        node, low, high = self.producers[quantize.input[0]], *self._limits(quantize)
        if node.op_type in ("Relu", "Clip"):
            step = self._scale(quantize.input[1])
            limits = (0.0, None) if node.op_type == "Relu" else [float(self.constants[n]) for n in node.input[1:]]
            zero = int(self.constants[quantize.input[2]])
            low = max(low, self._code(limits[0], step, zero))
            high = high if limits[1] is None else min(high, self._code(limits[1], step, zero))
            node = self.producers[node.input[0]]
        sums, factors = self._sums(node, feed)
        factors = factors / self._scale(quantize.input[1])
        zero = int(self.constants[quantize.input[2]])
        rounded = np.vectorize(self._round, otypes=[object])(sums, factors)
        kind = self.constants[quantize.input[2]].dtype
        return np.clip((rounded + zero).astype(np.int64), low, high).astype(kind)

    def _sums(self, node: onnx.NodeProto, feed: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Exact sums, and the real factor of each."""
        operands = [self._integers(name, feed) for name in node.input]
        (x, x_scale), *others = operands
        if node.op_type in ("AveragePool", "GlobalAveragePool"):
            ones = np.ones_like(x)
            total, count = self._window_sums(node, x), self._window_sums(node, ones)
            if any(a.name == "count_include_pad" and a.i for a in node.attribute):
                kernel = next(a.ints for a in node.attribute if a.name == "kernel_shape")
                count = np.full_like(count, int(np.prod(kernel)))
            return total, np.vectorize(lambda n: x_scale / int(n), otypes=[object])(count)
        (w, w_scale) = others[0]
        if node.op_type in ("Add", "Sub"):
            sign = -1 if node.op_type == "Sub" else 1
            real = np.vectorize(lambda a, b: int(a) * x_scale + sign * int(b) * w_scale, otypes=[object])(x, w)
            return real, np.array(Fraction(1), object)
        if node.op_type == "Mul":
            return (x * w).astype(object), np.array(x_scale * w_scale, object)
        bias = others[1][0] if len(others) > 1 else np.zeros(1, np.int64)
        factors = np.array([x_scale * s for s in np.atleast_1d(w_scale)], object)
        if node.op_type == "Conv":
            axes = [1, -1] + [1] * (x.ndim - 2)
            total = self._plain(node, x, w) + bias.reshape([1, -1] + [1] * (x.ndim - 2))
            return total.astype(object), factors.reshape(axes) if factors.size > 1 else factors.reshape(())
        matrix = w.T if any(a.name == "transB" and a.i for a in node.attribute) else w
        return (x @ matrix + bias).astype(object), factors.reshape(1, -1)

    def _integers(self, name: str, feed: Mapping[str, np.ndarray]) -> tuple[np.ndarray, Fraction | np.ndarray]:
        """Centred integers of a dequantized value, and its scale or scales."""
        dequantize = self.producers[name]
        scale, zero = self.constants[dequantize.input[1]], self.constants[dequantize.input[2]].astype(np.int64)
        exact = Fraction(float(scale)) if scale.ndim == 0 else np.array([Fraction(float(s)) for s in scale], object)
        if dequantize.input[0] in self.constants:
            return self.constants[dequantize.input[0]].astype(np.int64), exact
        quantize = self.producers[dequantize.input[0]]
        low, high = self._limits(quantize)
        codes = np.clip(np.rint(feed[quantize.input[0]] / scale) + zero, low, high).astype(np.int64)
        return codes - zero, exact

    def _plain(self, node: onnx.NodeProto, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        """The node itself on integers held in float64, which is exact below 2^53."""
        plain = onnx.NodeProto()
        plain.CopyFrom(node)
        del plain.input[2:]
        return _evaluate(plain, x.astype(np.float64), w.astype(np.float64)).astype(np.int64)

    def _window_sums(self, node: onnx.NodeProto, x: np.ndarray) -> np.ndarray:
        """Sums of windows: a depthwise convolution with ones."""
        attributes = {a.name: list(a.ints) for a in node.attribute if a.ints}
        kernel = attributes.pop("kernel_shape", list(x.shape[2:]))
        conv = onnx.helper.make_node("Conv", ["x", "w"], ["y"], group=x.shape[1], **attributes)
        ones = np.ones((x.shape[1], 1, *kernel))
        return _evaluate(conv, x.astype(np.float64), ones).astype(np.int64)

    def _round(self, total: int | Fraction, factor: Fraction) -> int:
        value = Fraction(total) * factor
        if self.rounding == "half up":
            return int((value + Fraction(1, 2)).__floor__())
        if self.rounding == "down":
            return int(value.__floor__())
        return round(value)

    def _limits(self, quantize: onnx.NodeProto) -> tuple[int, int]:
        info = np.iinfo(self.constants[quantize.input[2]].dtype)
        return int(info.min), int(info.max)

    def _scale(self, name: str) -> Fraction:
        return Fraction(float(self.constants[name]))

    @staticmethod
    def _code(limit: float, step: Fraction, zero: int) -> int:
        return round(Fraction(limit) / step) + zero


def _evaluate(node: onnx.NodeProto, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Runs one convolution in float64."""
    names = ["x", "w"]
    node.input[:] = names
    node.output[:] = ["y"]
    graph = onnx.helper.make_graph(
        [node],
        "g",
        [onnx.helper.make_tensor_value_info(n, onnx.TensorProto.DOUBLE, None) for n in names],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.DOUBLE, None)],
    )
    proto = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)], ir_version=9)
    result = ReferenceEvaluator(proto).run(None, {"x": x, "w": w})[0]
    assert isinstance(result, np.ndarray)
    return result
