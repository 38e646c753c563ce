"""What the user wants the model to be good at, as a figure between labels and outputs, and how far a change moves it.

Two models are judged on the same samples, so the interval of the change is a paired one: samples are drawn again and
again, each with both models' answers, and the change is counted anew. It is as wide as the data are few.

Labels by metric, the first axis counting the samples:

    accuracy, f1    the class of each sample, or of each of its last-axis rows
    map             1 where a sample belongs to a class, else 0: [samples, classes]
    wer             the classes of each sample's words or characters in order, -1 after the last one: [samples, most]
    cosine          the outputs that are wanted
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from metainfer_core.values import Value

RESAMPLES = 1000
CONFIDENCE = 95
BLANK = 0
"""The class that stands between two symbols of a sequence (connectionist temporal classification)."""
NO_SYMBOL = -1


class MetricChange(Value):
    """A metric before and after, on the same samples."""

    metric: str
    reference: float
    """Of the unchanged model."""
    value: float
    low: float
    """Ends of the paired 95 % interval of value - reference."""
    high: float
    samples: int
    lower_is_better: bool = False

    @property
    def drop(self) -> float:
        """By how much it became worse; negative where it became better."""
        fell = self.reference - self.value
        return -fell if self.lower_is_better else fell

    @property
    def words(self) -> str:
        """The figures as people read them."""
        return (
            f"{self.metric} {self.value:.4f}, {self.value - self.reference:+.4f} against the unchanged model "
            f"({CONFIDENCE} % interval {self.low:+.4f} to {self.high:+.4f}, {self.samples} samples)"
        )


@dataclass(frozen=True)
class Metric:
    """One figure: what is kept of each sample, and what these come to together."""

    keep: Callable[[np.ndarray, np.ndarray], np.ndarray]
    """Outputs and labels [samples, ...] to what is needed of each sample [samples, ...]."""
    total: Callable[[np.ndarray], float]
    """What was kept of some samples to the figure."""
    lower_is_better: bool = False


def change(
    name: str, metric: Metric, reference: np.ndarray, actual: np.ndarray, labels: np.ndarray, seed: int = 0
) -> MetricChange:
    """How a metric moves between two models' outputs [samples, ...] on the same samples."""
    before, after = metric.keep(reference, labels), metric.keep(actual, labels)
    generator = np.random.default_rng(seed)
    drawn = (generator.integers(0, len(before), len(before)) for _ in range(RESAMPLES))
    differences = [metric.total(after[places]) - metric.total(before[places]) for places in drawn]
    low, high = np.percentile(differences, [(100 - CONFIDENCE) / 2, (100 + CONFIDENCE) / 2])
    return MetricChange(
        metric=name,
        reference=metric.total(before),
        value=metric.total(after),
        low=float(low),
        high=float(high),
        samples=len(before),
        lower_is_better=metric.lower_is_better,
    )


def metric_of(function: Callable[[np.ndarray, np.ndarray], float]) -> Metric:
    """A metric of the user's own: a function of outputs and labels [samples, ...] to a figure, more is better."""

    def keep(outputs: np.ndarray, labels: np.ndarray) -> np.ndarray:
        kept = np.empty(len(outputs), object)
        kept[:] = list(zip(outputs, labels, strict=True))
        return kept

    def total(kept: np.ndarray) -> float:
        outputs, labels = zip(*kept, strict=True)
        return float(function(np.stack(outputs), np.stack(labels)))

    return Metric(keep, total)


def _classes(outputs: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The class of each row of each sample; a NaN is never the greatest."""
    known = np.where(np.isnan(outputs), -np.inf, outputs)
    return np.asarray(known.argmax(axis=-1).reshape(len(outputs), -1))


def _is_right(outputs: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return np.asarray((_classes(outputs, labels) == labels.reshape(len(labels), -1)).mean(axis=1))


def _both_classes(outputs: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """[samples, rows, 2]: the true class and the predicted one."""
    return np.stack([labels.reshape(len(labels), -1), _classes(outputs, labels)], axis=-1)


def _macro_f1(kept: np.ndarray) -> float:
    """The mean over all classes that occur of 2 right / (true + predicted)."""
    true, predicted = kept[..., 0].reshape(-1), kept[..., 1].reshape(-1)
    count = int(max(true.max(initial=0), predicted.max(initial=0))) + 1
    right = np.bincount(true[true == predicted], minlength=count)
    all_of = np.bincount(true, minlength=count) + np.bincount(predicted, minlength=count)
    return float((2 * right[all_of > 0] / all_of[all_of > 0]).mean())


def _scores_and_labels(outputs: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """[samples, classes, 2]: the score and whether the sample belongs to the class."""
    scores = np.where(np.isnan(outputs), -np.inf, outputs).reshape(len(outputs), -1)
    return np.stack([scores, labels.reshape(scores.shape)], axis=-1)


def _mean_average_precision(kept: np.ndarray) -> float:
    """The mean over classes with a sample of the precision at each of them, equal scores taken together."""
    return float(np.mean(found)) if (found := [_average_precision(one) for one in np.moveaxis(kept, 1, 0)
                                               if one[:, 1].any()]) else 0.0  # fmt: skip


def _average_precision(kept: np.ndarray) -> float:
    order = np.argsort(-kept[:, 0], kind="stable")
    scores, belongs = kept[order, 0], kept[order, 1]
    last = np.append(np.flatnonzero(scores[1:] != scores[:-1]), len(scores) - 1)  # of each run of equal scores
    right = np.cumsum(belongs)[last]
    return float((np.diff(right, prepend=0) * right / (last + 1)).sum() / belongs.sum())


def _errors_and_words(outputs: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """[samples, 2]: edits from the read sequence to the true one, and the length of the true one."""
    kept = []
    for read, true in zip(_classes(outputs, labels), labels.reshape(len(labels), -1), strict=True):
        wanted = true[true != NO_SYMBOL]
        kept.append((_edits(_collapsed(read), wanted), len(wanted)))
    return np.array(kept)


def _collapsed(read: np.ndarray) -> np.ndarray:
    """A read sequence without repetitions and blanks."""
    changed = np.append(True, read[1:] != read[:-1])
    return np.asarray(read[changed & (read != BLANK)])


def _edits(read: np.ndarray, true: np.ndarray) -> int:
    """The least number of insertions, deletions and replacements (Levenshtein)."""
    row = list(range(len(true) + 1))
    for index, symbol in enumerate(read, 1):
        above, row[0] = row[0], index
        for place, wanted in enumerate(true, 1):
            above, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, above + int(symbol != wanted))
    return row[-1]


def _angles(outputs: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The cosine between each sample's output and what is wanted; 0 where one of them is zero."""
    x, y = outputs.reshape(len(outputs), -1).astype(np.float64), labels.reshape(len(labels), -1).astype(np.float64)
    sizes = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    return np.asarray(np.divide((x * y).sum(axis=1), sizes, out=np.zeros(len(x)), where=sizes > 0))


def _mean(kept: np.ndarray) -> float:
    return float(kept.mean())


def _ratio(kept: np.ndarray) -> float:
    return float(kept[:, 0].sum() / max(kept[:, 1].sum(), 1))


METRICS: Mapping[str, Metric] = {
    "accuracy": Metric(_is_right, _mean),
    "f1": Metric(_both_classes, _macro_f1),
    "map": Metric(_scores_and_labels, _mean_average_precision),
    "wer": Metric(_errors_and_words, _ratio, lower_is_better=True),
    "cosine": Metric(_angles, _mean),
}
