"""How long people wait for a decision to be kept while many write at once: two processes of eight threads each.

Run it as `python benchmarks/store_writers.py [--seconds 60]`. Prints the number of events, the median, the 99th
percentile and the longest time of a write, and the longest as a multiple of the time of one that writes alone. Ends
with status 1 if an event was lost, the record is not whole, or somebody waited for two seconds or longer.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import sys
import tempfile
import threading
import time
from multiprocessing.queues import Queue
from pathlib import Path

from review_store.record.check_log import check_log
from review_store.record.events import Commented
from review_store.record.log import EventLog

AT = "2026-11-29T12:00:00Z"
PROCESSES, THREADS = 2, 8
LONGEST_S = 2.0
"""What nobody should have to wait for."""


def alone(workspace: Path, writes: int = 50) -> float:
    """Seconds of the median write of one thread that nobody disturbs."""
    log, times = EventLog(workspace), []
    for number in range(writes):
        times.append(_timed(log, "alone", number))
    log.close()
    return statistics.median(times)


def together(workspace: Path, seconds: float) -> list[float]:
    """Seconds of each write of all threads."""
    context = multiprocessing.get_context("fork")
    queue: Queue[list[float]] = context.Queue()
    processes = [
        context.Process(target=_process, args=(workspace, f"p{number}", seconds, queue)) for number in range(PROCESSES)
    ]
    for each in processes:
        each.start()
    times = [duration for _ in processes for duration in queue.get(timeout=seconds + 120)]
    for each in processes:
        each.join()
    return times


def _process(workspace: Path, name: str, seconds: float, queue: Queue[list[float]]) -> None:
    log, times, until = EventLog(workspace), [], time.monotonic() + seconds

    def write(who: str) -> None:
        number = 0
        while time.monotonic() < until:
            times.append(_timed(log, who, number))
            number += 1

    threads = [threading.Thread(target=write, args=(f"{name}t{number}",)) for number in range(THREADS)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    queue.put(times)


def _timed(log: EventLog, who: str, number: int) -> float:
    begin = time.perf_counter()
    log.append("p", [Commented(actor=who, at=AT, action=f"a{number % 50}", text=f"{number}")])
    return time.perf_counter() - begin


def main(seconds: float) -> None:
    """Measures and prints."""
    with tempfile.TemporaryDirectory() as folder:
        single = alone(Path(folder) / "alone")
        times = sorted(together(Path(folder) / "together", seconds))
        log = EventLog(Path(folder) / "together")
        lost, faults = len(times) - log.head().seq, check_log(log)
        log.close()
    late = times[int(len(times) * 0.99)]
    print(f"{len(times)} events in {seconds:g} s by {PROCESSES} x {THREADS} writers:")
    print(f"median {statistics.median(times):.3f} s, 99 % under {late:.3f} s, longest {times[-1]:.3f} s")
    print(f"= {times[-1] / single:.0f} times a write alone ({single:.4f} s)")
    print(f"{lost} events lost, {len(faults)} faults of the record")
    if lost or faults or times[-1] >= LONGEST_S:
        sys.exit(f"It should be none, and nobody should wait for {LONGEST_S:g} s.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="how long all write together")
    main(parser.parse_args().seconds)
