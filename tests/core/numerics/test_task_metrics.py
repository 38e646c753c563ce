"""Built-in metrics against scikit-learn 1.9 and values counted by hand, and the paired interval against theory."""

from __future__ import annotations

import numpy as np
import pytest

from metainfer_core.numerics.task_metrics import METRICS, change, metric_of

ACCURACY, F1, MAP = 0.2, 0.20513157894736841, 0.6781695926729459


def figure(name: str, outputs: np.ndarray, labels: np.ndarray) -> float:
    metric = METRICS[name]
    return metric.total(metric.keep(np.asarray(outputs), np.asarray(labels)))


def drawn() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(5)
    outputs = generator.normal(size=(40, 1, 4)).astype(np.float32).round(1)
    labels = generator.integers(0, 4, 40)
    belongs = (generator.random((40, 4)) < 0.3).astype(int)
    scores = generator.normal(size=(40, 4)).round(1) + belongs  # rounded: equal scores occur
    return outputs, labels, scores, belongs


def test_as_scikit_learn_counts() -> None:
    outputs, labels, scores, belongs = drawn()
    assert figure("accuracy", outputs, labels) == pytest.approx(ACCURACY)
    assert figure("f1", outputs, labels) == pytest.approx(F1)
    assert figure("map", scores, belongs) == pytest.approx(MAP)


def test_accuracy_of_rows_and_of_outputs_that_are_no_numbers() -> None:
    rows = np.eye(3)[[[0, 1], [2, 2]]]  # two samples of two rows
    assert figure("accuracy", rows, np.array([[0, 1], [2, 0]])) == 0.75
    broken = np.array([[np.nan, 1.0], [np.nan, np.nan]])
    assert figure("accuracy", broken, np.array([1, 1])) == 0.5  # of no number at all the first class


def test_average_precision_by_hand() -> None:
    # right at places 1 and 3: (1/1 + 2/3) / 2; the class without a sample does not count
    assert figure("map", np.array([[9.0, 1], [8, 2], [7, 3]]), np.array([[1, 0], [0, 0], [1, 0]])) == pytest.approx(
        5 / 6
    )
    # all equal: nothing is ranked, so the precision is that of all
    assert figure("map", np.zeros((4, 1)), np.array([[1], [0], [0], [0]])) == pytest.approx(0.25)
    assert figure("map", np.zeros((2, 1)), np.zeros((2, 1))) == 0.0


def test_word_errors_by_hand() -> None:
    def spoken(*symbols: int) -> np.ndarray:
        return np.eye(5)[list(symbols)]

    heard = np.stack([spoken(1, 1, 0, 1, 2, 2), spoken(0, 0, 0, 3, 0, 4)])  # 1 1 2 and 3 4
    exact = np.array([[1, 1, 2, -1], [3, 4, -1, -1]])
    assert figure("wer", heard, exact) == 0.0
    # 1 1 2 for 1 2: one too many; 3 4 for 4 3 2 4: two missing before the last of 3 4, of six symbols
    assert figure("wer", heard, np.array([[1, 2, -1, -1], [4, 3, 2, 4]])) == pytest.approx(3 / 6)
    assert METRICS["wer"].lower_is_better


def test_cosine_by_hand() -> None:
    wanted = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    given = np.array([[3.0, 0.0], [2.0, 0.0], [0.0, 0.0]])
    assert figure("cosine", given, wanted) == pytest.approx(1 / 3)


def test_the_interval_is_a_paired_one() -> None:
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 2, 1000)
    right = np.eye(2)[np.where(generator.random(1000) < 0.7, labels, 1 - labels)]
    flipped = right.copy()
    flipped[:10] = flipped[:10, ::-1]  # ten answers become others
    found = change("accuracy", METRICS["accuracy"], right, flipped, labels)
    lost = int((right[:10].argmax(1) == labels[:10]).sum())
    assert found.value - found.reference == pytest.approx((10 - 2 * lost) / 1000)
    # ten of a thousand answers differ: the deviation of the mean is sqrt(10) / 1000, whatever the accuracy itself is
    assert found.high - found.low == pytest.approx(2 * 1.96 * np.sqrt(10) / 1000, rel=0.15)
    same = change("accuracy", METRICS["accuracy"], right, right, labels)
    assert (same.low, same.high, same.drop) == (0.0, 0.0, 0.0)


def test_a_drop_is_what_became_worse() -> None:
    labels = np.array([[1, -1]] * 4)
    right, wrong = np.eye(3)[np.array([[1, 0]] * 4)], np.eye(3)[np.array([[2, 0]] * 4)]
    worse = change("wer", METRICS["wer"], right, wrong, labels)
    assert (worse.reference, worse.value, worse.drop) == (0.0, 1.0, 1.0)
    assert (
        worse.words == "wer 1.0000, +1.0000 against the unchanged model (95 % interval +1.0000 to +1.0000, 4 samples)"
    )
    classes = np.array([1, 1, 1, 1])
    less = change("accuracy", METRICS["accuracy"], right[:, 0], wrong[:, 0], classes)
    assert less.drop == 1.0


def test_the_same_samples_give_the_same_interval() -> None:
    outputs, labels, _, _ = drawn()
    other = outputs + 0.5 * np.random.default_rng(1).normal(size=outputs.shape)
    first, second = (change("f1", METRICS["f1"], outputs, other, labels) for _ in range(2))
    assert first == second
    assert first.low < first.value - first.reference < first.high


def test_a_metric_of_the_users_own() -> None:
    metric = metric_of(lambda outputs, labels: float(-np.abs(outputs - labels).max()))
    found = change("my:own", metric, np.zeros((3, 2)), np.ones((3, 2)), np.zeros((3, 2)))
    assert (found.reference, found.value, found.low, found.high, found.drop) == (0.0, -1.0, -1.0, -1.0, 1.0)
