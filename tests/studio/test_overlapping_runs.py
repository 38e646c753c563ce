"""A run of the script that is being broken off can overlap the next one: what was pressed is dealt with once."""

import threading
import time

from studio.review import decisions
from studio.review.review_queue import Desk, Pressed

SENT = tuple(Pressed(number, "approve", f"fuse@{number}", 1) for number in range(1, 6))


def test_two_runs_at_the_same_moment_take_each_event_once(monkeypatch):
    done, desk, together = [], Desk("queue"), threading.Barrier(2)

    def press(_found, _desk, event, _person):
        time.sleep(0.01)  # long enough for the other run to come in between
        done.append(event.number)

    monkeypatch.setattr(
        decisions, "pressed", lambda desk: tuple(event for event in SENT if event.number > desk.acknowledged)
    )
    monkeypatch.setattr(decisions, "press", press)

    def run():
        together.wait()
        decisions.take(None, desk, "ada")

    runs = [threading.Thread(target=run) for _ in range(2)]
    for each in runs:
        each.start()
    for each in runs:
        each.join()
    assert done == [1, 2, 3, 4, 5]
    assert desk.acknowledged == 5
