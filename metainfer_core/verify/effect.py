"""What a change does to the outputs, measured with the arithmetic that the device will use."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.metrics import Effect, output_effect
from metainfer_core.numerics.simulator import Simulator
from metainfer_core.verify.samples import Outputs, Samples


def measure(reference: Sequence[Outputs], adapted: ir.Model, samples: Samples) -> Effect:
    """The effect of `adapted` against the reference outputs of the unchanged model on the same samples."""
    simulator = Simulator(lower(adapted))
    actual = [simulator.run(feed) for feed in samples.feeds]
    effects = tuple(
        output_effect(name, np.stack([one[name] for one in reference]), np.stack([other[name] for other in actual]))
        for name in reference[0]
    )
    return Effect(outputs=effects, samples=len(samples.feeds), data=samples.label)
