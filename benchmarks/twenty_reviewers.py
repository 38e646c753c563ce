"""Twenty reviewers at work on one studio: a policy of 500 actions, a model of 10,000 nodes, one server process.

Run it as `python benchmarks/twenty_reviewers.py [--reviewers 20] [--seconds 80] [--thinking 10]` on a
machine with two free cores; it ends within three minutes. The server is the one that `meta-infer studio` starts, on a
workspace made for it. This process is the browsers' side: each reviewer is a connection of its own that speaks the
protocol of Streamlit's page, thinks for 10 s on average, and then does one thing: looks at an action, approves it by
key, undoes that, writes a remark into the form, or narrows the queue down.

An interaction lasts from what is sent to the last thing that is drawn for it, as the client's clock has it. Prints
median, 95th percentile and worst of all, errors, and lost events: every verdict that the server acknowledged must stand
in the record exactly once. The exit status is 1 if a goal is missed. `--thinking 0.5 --reviewers 1` shows what one
interaction costs where nobody else is there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg  # noqa: TID251 (the browser's side of its protocol)
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg  # noqa: TID251
from studio_pages import model, policy

from metainfer_core.values import sha256
from review_store.record.log import EventLog

ROOT = Path(__file__).parents[1]
NODES = 10_000
POLICY = "policies/chain_on_rk3588.policy"
MEDIAN_MS, P95_MS = 200, 600
PATIENCE_SECONDS = 60
SEED = 5


@dataclass
class Window:
    """One reviewer's page: what the server drew last, and what its widgets hold."""

    person: str
    stream: websockets.ClientConnection
    elements: dict[str, str] = field(default_factory=dict)
    """End of a widget's id, which is the key that the screen gave it, to the id."""
    widgets: dict[str, tuple[str, object]] = field(default_factory=dict)
    """Id to the kind of its value, and the value."""
    queue: dict = field(default_factory=dict)
    page_hash: str = ""
    query: str = f"policy={POLICY.replace('/', '%2F')}"
    faults: list[str] = field(default_factory=list)
    number: int = 0
    outbox: list[dict] = field(default_factory=list)
    selected: str | None = None
    sent: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Number of an event to its verb and action."""
    acknowledged: set[int] = field(default_factory=set)

    async def run(self, *triggers: str) -> float:
        """Sends what the page holds, with buttons pressed; milliseconds until everything is drawn."""
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_name = self.query, "review" if not self.page_hash else ""
        state.page_script_hash = self.page_hash
        for identity, (kind, value) in self.widgets.items():
            setattr(state.widget_states.widgets.add(id=identity), kind, value)
        for identity in triggers:
            state.widget_states.widgets.add(id=identity, trigger_value=True)
        begin = time.perf_counter()
        await self.stream.send(message.SerializeToString())
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not self.take(await self.stream.recv()):
                pass
        return 1000 * (time.perf_counter() - begin)

    def take(self, data: bytes) -> bool:
        """Takes one message; whether it says that the page is drawn."""
        message = ForwardMsg.FromString(data)
        kind = message.WhichOneof("type")
        if kind == "navigation":
            self.page_hash = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self._draw(message.delta.new_element)
        elif kind == "script_finished":
            return message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
        return False

    def _draw(self, element: object) -> None:
        kind = element.WhichOneof("type")
        drawn = getattr(element, kind)
        if kind == "exception":
            self.faults.append(drawn.message)
        elif kind == "alert" and drawn.format == drawn.ERROR:
            self.faults.append(drawn.body)
        identity = getattr(drawn, "id", "")
        if identity:
            self.elements[identity.rsplit("-", 1)[-1]] = identity
        if kind == "bidi_component" and drawn.component_name.endswith("review_queue"):
            self.queue = json.loads(drawn.json)
            self.elements["queue"] = identity
            self.acknowledged |= {each for each in self.sent if each <= self.queue["acknowledged"]}
            self.outbox = [each for each in self.outbox if each["number"] > self.queue["acknowledged"]]

    def set(self, key: str, kind: str, value: object) -> None:
        """What a widget holds from now on."""
        self.widgets[self.elements[key]] = (kind, value)

    def row(self, action: str) -> dict:
        return next(row for row in self.queue["rows"] if row["id"] == action)

    async def say(self) -> float:
        """Sends what the queue has to say: the selection, and what is not acknowledged."""
        said = {"said": {"selected": self.selected, "outbox": self.outbox}}
        self.set("queue", "json_value", json.dumps(said))
        return await self.run()

    async def select(self, action: str) -> float:
        self.selected = action
        return await self.say()

    async def press(self, verb: str, action: str) -> float:
        """A key, about an action as its row shows it; an approval moves on to the next."""
        self.number += 1
        self.sent[self.number] = (verb, action)
        version = self.row(action)["version"]
        self.outbox.append({"number": self.number, "verb": verb, "id": action, "version": version})
        self.selected = action
        return await self.say()


async def opened(port: int, person: str) -> Window:
    """A window on the review, with its reader's name given."""
    stream = await websockets.connect(
        f"ws://127.0.0.1:{port}/_stcore/stream", subprotocols=["streamlit"], max_size=None
    )
    window = Window(person, stream)
    await window.run()
    window.set("person_given", "string_value", person)
    await window.run()
    return window


async def review(window: Window, own: list[str], thinking: float, end: float, chance: random.Random) -> list[tuple]:
    """Works through the reviewer's own actions until the time is over; kind and milliseconds of each interaction."""
    done: list[tuple[str, float]] = []
    open_ones = list(own)
    approved: list[str] = []

    async def think() -> bool:
        await asyncio.sleep(min(chance.expovariate(1 / thinking), 4 * thinking))
        return time.monotonic() < end

    await asyncio.sleep(chance.uniform(0, thinking))  # they do not begin together
    while time.monotonic() < end and open_ones:
        draw = chance.random()
        if draw < 0.45:
            done.append(("look", await window.select(chance.choice(open_ones))))
        elif draw < 0.8:
            action = open_ones.pop(0)
            done.append(("approve", await window.press("approve", action)))
            approved.append(action)
        elif draw < 0.88 and approved:
            done.append(("undo", await window.press("undo", approved.pop())))
        elif draw < 0.95:
            done.append(("search", await search(window, chance.choice(("relu_1", "mul_4", "")))))
        else:
            done += await remark(window, open_ones[0], think)
        if not await think():
            break
    return done


async def search(window: Window, words: str) -> float:
    window.set("q", "string_value", words)
    took = await window.run()
    window.set("q", "string_value", "")
    await window.run()  # all rows are there again for what comes next
    return took


async def remark(window: Window, action: str, think) -> list[tuple[str, float]]:
    """Opens the form by key, types, and writes it."""
    done = [("open form", await window.press("comment", action))]
    await think()
    reason = next(key for key in window.elements if key.startswith("reason_"))
    window.set(reason, "string_value", f"{window.person} asks about {action}")
    done.append(("type", await window.run()))
    await think()
    done.append(("write", await window.run(window.elements["form_submit"])))
    window.widgets.pop(window.elements.pop(reason), None)
    return done


@contextmanager
def server(folder: Path):
    """The studio on a workspace with the policy and the model; its port."""
    data = model(NODES)
    (folder / "policies").mkdir()
    (folder / "chain.onnx").write_bytes(data)
    (folder / POLICY).write_bytes(policy(sha256(data)).to_json())
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    start = [sys.executable, "-m", "metainfer_core"]
    command = [*start, "studio", "--port", str(port), "--workspace", str(folder)]
    environment = {**os.environ, "METAINFER_WORKSPACE": str(folder), "GIT_CONFIG_GLOBAL": "/dev/null"}
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        end = time.monotonic() + 120
        while time.monotonic() < end:
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2):
                break
            time.sleep(0.1)
        yield port, process
    finally:
        process.terminate()
        process.wait(30)


def read_the_model(folder: Path) -> None:
    """Has the model read by a job, as a press on the screen's button does, so that its neighbourhood is drawn."""
    os.environ["METAINFER_WORKSPACE"] = str(folder)
    from studio.background.jobs import job
    from studio.model.model_reading import read_model

    order = read_model(folder / "chain.onnx", (), "ada")
    while job(order.id).is_open:
        time.sleep(0.2)
    assert job(order.id).state == "done", job(order.id).error


def lost_and_doubled(folder: Path, windows: list[Window]) -> tuple[int, int, int]:
    """Acknowledged verdicts that are missing in the record, those that stand there twice, and how many there are."""
    log = EventLog(folder)
    kinds = {"approved": "approve", "undone": "undo"}
    there = Counter(
        (each.event.actor, kinds[each.event.plain()["kind"]], each.event.subject)
        for each in log.records()
        if each.event.plain()["kind"] in kinds
    )
    log.close()
    said = Counter(
        (window.person, *window.sent[number])
        for window in windows
        for number in window.acknowledged
        if window.sent[number][0] in ("approve", "undo")
    )
    return (said - there).total(), (there - said).total(), said.total()


def processor_seconds(process: subprocess.Popen) -> float:
    """Of the server, so far."""
    words = Path(f"/proc/{process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


async def work(port: int, process: subprocess.Popen, asked: argparse.Namespace) -> tuple[list[Window], list, float]:
    windows = [await opened(port, f"reviewer{number:02}") for number in range(asked.reviewers)]
    rows = windows[0].queue["rows"]
    own = [
        [row["id"] for row in rows[number :: asked.reviewers] if not row["justify"]]
        for number in range(asked.reviewers)
    ]
    end, before = time.monotonic() + asked.seconds, processor_seconds(process)
    rounds = await asyncio.gather(
        *(
            review(window, own[number], asked.thinking, end, random.Random(f"{SEED} {number}"))
            for number, window in enumerate(windows)
        )
    )
    used = processor_seconds(process) - before
    for window in windows:
        await window.stream.close()
    return windows, [each for done in rounds for each in done], used


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    given.add_argument("--reviewers", type=int, default=20)
    given.add_argument("--seconds", type=float, default=80)
    given.add_argument("--thinking", type=float, default=10)
    asked = given.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with server(folder) as (port, process):
            read_the_model(folder)
            windows, done, used = asyncio.run(work(port, process, asked))
        lost, doubled, verdicts = lost_and_doubled(folder, windows)
        faults = [fault for window in windows for fault in window.faults]
        print(f"{'interaction':12} {'count':>6} {'median ms':>10} {'worst ms':>10}")
        for kind in sorted({kind for kind, _ in done}):
            times = [took for each, took in done if each == kind]
            print(f"{kind:12} {len(times):6} {statistics.median(times):10.0f} {max(times):10.0f}")
        times = sorted(took for _, took in done)
        median, p95 = statistics.median(times), times[min(len(times) - 1, int(0.95 * len(times)))]
        print(f"\n{len(times)} interactions of {asked.reviewers} reviewers in {asked.seconds:.0f} s")
        print(f"median {median:.0f} ms (goal {MEDIAN_MS})")
        print(f"p95    {p95:.0f} ms (goal {P95_MS})")
        print(f"worst  {times[-1]:.0f} ms")
        print(f"server's processor time per interaction {1000 * used / len(times):.0f} ms")
        print(f"errors {len(faults)}{': ' + faults[0] if faults else ''}")
        print(f"acknowledged verdicts {verdicts}, lost {lost}, written twice {doubled}")
    return int(median >= MEDIAN_MS or p95 >= P95_MS or bool(faults) or lost > 0 or doubled > 0)


if __name__ == "__main__":
    sys.exit(main())
