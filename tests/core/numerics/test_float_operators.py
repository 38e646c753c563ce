"""Every operator, lowered and simulated, against ONNX Runtime."""

from __future__ import annotations

import numpy as np
import pytest
from operator_cases import FLOAT_CASES, WHERE_BOOL, Case, reference

from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.simulator import Simulator

TOLERANCES = {"absolute": 1e-5, "relative": 1e-5}


@pytest.mark.parametrize("case", FLOAT_CASES, ids=lambda case: case.name)
def test_operator_equals_onnx_runtime(case: Case) -> None:
    expected = reference(case.proto, case.feed)
    actual = Simulator(lower(case.model())).run(case.feed)
    assert actual.keys() == expected.keys()
    for name, y in expected.items():
        assert actual[name].shape == y.shape
        assert actual[name].dtype == y.dtype
        if y.dtype == np.float32:
            limit = TOLERANCES["absolute"] + TOLERANCES["relative"] * np.abs(y[np.isfinite(y)]).max(initial=0.0)
            assert np.array_equal(np.isfinite(actual[name]), np.isfinite(y))
            np.testing.assert_allclose(actual[name], y, rtol=0, atol=limit)
        else:
            np.testing.assert_array_equal(actual[name], y)


def test_choice_between_booleans() -> None:
    assert Simulator(lower(WHERE_BOOL.model())).run(WHERE_BOOL.feed)["y"].tolist() == [True, False, False]
