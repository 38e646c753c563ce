"""How long a filter of the review's queue takes on the server, on a policy of 5,000 actions beside one of 500.

Run it as `python benchmarks/queue_filters.py [ROUNDS]`. Each filter (risk, state, kind, words, and all together) is
applied as the screen does it: counts of the chips, choice, order, rows. Prints milliseconds of the processor, which a
busy machine does not stretch: median and 95th percentile, and how many times the small policy's median that is.
"""

from __future__ import annotations

import statistics
import sys
import time

import studio_pages

from metainfer_core.bundle.trust import TrustFile
from metainfer_core.values import sha256
from review_store.review.state import ReviewState, fold
from studio.review.review_rows import Chosen, about, counts, queue, rows

SMALL, LARGE = 500, 5000
FILTERS = {
    "nothing": Chosen(),
    "risk": Chosen(risks=("high",)),
    "state": Chosen(words=("pending",)),
    "kind": Chosen(kinds=("fuse",)),
    "words": Chosen(search="kernel of mul_49"),
    "all": Chosen(("low", "medium"), ("pending",), ("fuse",), "relu_4"),
}


def under_review(count: int) -> ReviewState:
    """A policy of so many actions that nobody has looked at."""
    studio_pages.ACTIONS = count
    return fold(studio_pages.policy(sha256(b"a model")), (), TrustFile())


def filtered(state: ReviewState, chosen: Chosen) -> tuple[float, int]:
    """Milliseconds of the processor for one filter, and how many actions it shows."""
    begin = time.process_time()
    counts(state.actions)
    about(state, (), "ada")
    shown = rows(queue(state.actions, chosen))
    return 1000 * (time.process_time() - begin), len(shown)


def main(rounds: int) -> None:
    states = {count: under_review(count) for count in (SMALL, LARGE)}
    print(f"{'filter':10} {'shown':>6} {'median ms':>10} {'p95 ms':>8} {'times that of 500':>18}")
    for name, chosen in FILTERS.items():
        runs = {count: [filtered(state, chosen) for _ in range(rounds)] for count, state in states.items()}
        times = {count: sorted(each for each, _ in found) for count, found in runs.items()}
        median = {count: statistics.median(found) for count, found in times.items()}
        p95 = times[LARGE][min(rounds - 1, round(0.95 * rounds))]
        shown = runs[LARGE][0][1]
        print(f"{name:10} {shown:>6} {median[LARGE]:>10.1f} {p95:>8.1f} {median[LARGE] / median[SMALL]:>18.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
