"""How long a run of each studio screen takes, without a browser: a policy of 500 actions, a model of 2,000 nodes, a
draft of 2,200 readings on 1,000 pages.

Run it as `python benchmarks/studio_pages.py [RUNS]`. Prints the time of the first run, and of those after it the median
time, the median of the processor's time (which a busy machine does not stretch), and the longest. Review and Sign are
timed twice: at the beginning of a review, and when all is approved and checked whether it can be built.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from onnx import TensorProto, helper
from streamlit.testing.v1 import AppTest

from metainfer_core.bundle.statement import Justification
from metainfer_core.numerics.metrics import Effect, OutputEffect
from metainfer_core.policy.policy import Evidence, Policy, PolicyAction, Risk
from metainfer_core.policy.ruleset import ruleset_digest
from metainfer_core.spec.drafting.draft import Candidate, DraftSource, SpecDraft
from metainfer_core.spec.drafting.draft_file import write_draft
from metainfer_core.spec.library import load
from metainfer_core.values import sha256
from review_store.review.decide import Decision, decide
from review_store.review.workspace import now
from studio.drafts.desk_messages import take
from studio.drafts.draft_places import places
from studio.files.policies import review_of, subject
from studio.review.buildable import known
from studio.words.texts import text

ROOT = Path(__file__).parents[1]
ACTIONS, NODES = 500, 2000
READINGS, PAGES = 2200, 1000
DRAFT = "drafts/long_manual.yaml"
MARK = {
    "home": "chain",
    "manuals": "**long**",
    "confirm": "places-of-draft",
    "specs": "rk3588",
    "model": "relu_999",
    "adapt": "mul_499",
    "review": "mul_499",
    "sign": "500 actions that fit chain.onnx",
}
"""Screen to words that stand on it once all of it is drawn."""
CHECKED = ("review", "sign")
"""Screens that are timed once more when all is approved, with what the check found whether it can be built."""


def model(count: int = NODES) -> bytes:
    """A chain of pairs of a product and an activation, of so many nodes."""
    nodes, last = [], "x"
    for index in range(count // 2):
        nodes.append(helper.make_node("Mul", [last, "w"], [f"m{index}"], name=f"mul_{index}"))
        nodes.append(helper.make_node("Relu", [f"m{index}"], [f"r{index}"], name=f"relu_{index}"))
        last = f"r{index}"
    shape = [1, 16, 8, 8]
    graph = helper.make_graph(
        nodes,
        "chain",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(last, TensorProto.FLOAT, shape)],
        [helper.make_tensor("w", TensorProto.FLOAT, [1], [1.01])],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return bytes(made.SerializeToString())


def policy(model_digest: str) -> Policy:
    """Fusions with evidence of every kind, of all risks."""
    effect = Effect(
        outputs=(OutputEffect(output="y", sqnr_db=41.5, worst_channel=3, channels=16),), samples=32, data="d"
    )
    levels = ("low", "low", "low", "medium", "high")

    def action(index: int) -> PolicyAction:
        return PolicyAction(
            node_id=f"mul_{index}",
            action="fuse",
            params={"with": [f"relu_{index}"], "target_hw": "npu"},
            nodes=(f"mul_{index}", f"relu_{index}"),
            sentence=f"Compute relu_{index} in the kernel of mul_{index}.",
            evidence=Evidence(alone=effect, together=effect, predicted_time_us=(-3.0, -1.0), predicted_bytes=-8192),
            risk=Risk(level=levels[index % 5], facts=("One fact.", "Another one.")),
        )

    return Policy(
        name="chain_on_rk3588",
        actions=tuple(action(index) for index in range(ACTIONS)),
        model_digest=model_digest,
        spec_digest=load("rk3588").values_digest,
        ruleset_digest=ruleset_digest(),
        objective={"precision": "int8"},
    )


def draft() -> SpecDraft:
    """Registers, memories, clocks and supply rails of a manual of 1,000 pages."""
    kinds = (("mmio.base", "addr"), ("memory.sram.size_bytes", "B"), ("cpu.clock_hz", "Hz"), ("power.supply_v", "V"))

    def reading(index: int) -> Candidate:
        field, unit = kinds[index % 4 if index % 8 < 4 else 0]
        return Candidate(
            field=field,
            value=f"0x{0x4000_0000 + 4096 * index:x}" if unit == "addr" else 1024 * (1 + index % 50),
            unit=unit,
            instance=f"block {index // 2}" if unit == "addr" else f"part {index % 300}",
            source="manual",
            page=1 + index * PAGES // READINGS,
            box=(50.0, 60.0, 200.0, 72.0),
            text="Some words of the manual that hold the value, as long as such words are.",
            confidence=0.5 + index % 50 / 100,
            method="table-rule",
        )

    source = DraftSource(title="M", document_digest="sha256:" + "0" * 64, file_name="manual.pdf", pages=PAGES)
    return SpecDraft(chip="long", sources={"manual": source}, candidates=tuple(map(reading, range(READINGS))))


def decide_half(made: SpecDraft, workspace: Path) -> None:
    """A log of a decision on every other place, one after the other."""
    stand = [place for place in places(made) if not place.is_mixed][::2]
    events = [
        {"number": number, "kind": "accept", "places": [each.key], "choices": {each.key: each.indexes[0]}}
        for number, each in enumerate(stand, start=1)
    ]
    for first in range(0, len(events), 500):
        sent = {"draft": made.digest, "window": "1" * 16, "events": events[first : first + 500]}
        assert take(sent, made, "ada", workspace) == []


def drawn(page: AppTest) -> str:
    """The words of a screen that its mark can stand in."""
    words = [str(element.value) for kind in ("markdown", "html", "error") for element in page.get(kind)]
    words += [each.value.to_csv() for each in page.dataframe]
    words += [each.proto.json for each in page.get("bidi_component")]
    return "\n".join(words)


def timed(page: AppTest) -> tuple[float, float]:
    """Milliseconds by the clock, and of this process's threads."""
    begin, begin_processor = time.perf_counter(), time.process_time()
    page.run()
    assert not page.exception, page.exception
    return 1000 * (time.perf_counter() - begin), 1000 * (time.process_time() - begin_processor)


def approve_all(path: Path) -> None:
    """Two people approve every action, with the three lines that high risk asks for."""
    lines = Justification(why_allowed="measured", accuracy_effect="small", fallback="switch it off")
    for who in ("ada", "bob"):
        review = review_of(subject(path))
        ids = tuple(each.id for each in review.state.actions)
        decide(review.log, review.state, Decision(who, ids, ("approve",), justification=lines), now(), None)
    assert not review_of(subject(path)).state.unreviewed


def answer(path: Path, name: str) -> tuple[str, str]:
    """Whether all that was approved can be built, in a word, and what the screen says then."""
    found = subject(path)
    what = known(found, review_of(found))
    if what.word == "cannot":
        return what.word, text("buildable_cannot", count=len(what.faults))
    assert what.word == "can", what
    return what.word, text("progress_done") if name == "review" else text("sign_ready", total=ACTIONS)


def report(label: str, page: AppTest, first: float, runs: int, mark: str) -> None:
    """Times the runs after the first, and prints a line."""
    times, processor = zip(*(timed(page) for _ in range(runs)), strict=True)
    assert mark in drawn(page), f"{label} does not show {mark!r}"
    medians = f"{statistics.median(times):10.0f} {statistics.median(processor):12.0f}"
    print(f"{label:16} {first:10.0f} {medians} {max(times):10.0f}", flush=True)


def opened(name: str) -> AppTest:
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run()
    page.query_params["spec"] = "rk3588@1.0.0" if name != "specs" else ""
    return page.switch_page(f"pages/{name}.py")


def wait_for_jobs(page: AppTest) -> None:
    from studio.background.jobs import jobs

    while any(job.is_open for job in jobs()) or not jobs():
        time.sleep(0.5)
        page.run()


def main(runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder)
        os.environ["METAINFER_WORKSPACE"] = folder
        os.chdir(ROOT)
        (workspace / "chain.onnx").write_bytes(model())
        (workspace / "policies").mkdir()
        policy_path = workspace / "policies" / "chain_on_rk3588.policy"
        policy_path.write_bytes(policy(sha256((workspace / "chain.onnx").read_bytes())).to_json())
        (workspace / "drafts").mkdir()
        made = draft()
        (workspace / DRAFT).write_bytes(write_draft(made))
        decide_half(made, workspace)
        print(f"{'screen':16} {'first ms':>10} {'median ms':>10} {'processor ms':>12} {'longest ms':>10}")
        for name in MARK if not sys.argv[2:] else sys.argv[2:]:
            page = opened(name)
            first = timed(page)[0]
            if name == "model":
                wait_for_jobs(page)
            report(name, page, first, runs, MARK[name])
        asked = [name for name in CHECKED if name in sys.argv[2:] or not sys.argv[2:]]
        if asked:
            approve_all(policy_path)
        for name in asked:
            page = opened(name)
            first = timed(page)[0]
            wait_for_jobs(page)
            word, says = answer(policy_path, name)
            report(f"{name}: {word}", page, first, runs, says)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
