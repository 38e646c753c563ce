"""The review on one page: everything that was said, nothing that runs, the same bytes for the same record."""

import base64
import functools
import hashlib
import io
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from PIL import Image
from reportlab.pdfgen.canvas import Canvas
from review_maker import (
    ADD_2,
    AT,
    CONV_0,
    CONV_1,
    JUSTIFICATION,
    POLICY,
    TRUST,
    action,
    policy,
    say,
)

from metainfer_core.actions.action import Alternative, Reason
from metainfer_core.numerics.metrics import Effect, OutputEffect
from metainfer_core.policy.policy import Evidence as Measured
from metainfer_core.policy.policy import Risk
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import sha256
from review_store.export.manual_crops import cutter, pictures_of, spots_of
from review_store.export.page_export import export_page
from review_store.export.review_page import Evidence, review_html
from review_store.keeping.manual_files import manual_with
from review_store.record.check_log import LogFault, check_log
from review_store.review.decide import current_state

EVIL = '</p><script>alert(1)</script><img src="http://example.org/x.png" onerror="alert(2)">'
BOX = (100.0, 100.0, 220.0, 114.0)
DAY = "2026-12-01T00:00:00Z"


def quiet(step, done, total):
    pass


@pytest.fixture
def manual(tmp_path):
    """A manual of one page that says how large a memory is, 100 points from its top left corner."""
    path = tmp_path / "workspace" / "manuals" / "chip.pdf"
    path.parent.mkdir(parents=True)
    canvas = Canvas(str(path), pagesize=(400, 300), invariant=1)
    canvas.drawString(100, 300 - 112, "SRAM: 512 KiB")
    canvas.save()
    return path


def spec_of(manual):
    return HardwareSpec.from_plain(
        {
            "name": "chip",
            "version": "1.0.0",
            "memories": {"sram": {"kind": "sram", "size_bytes": 524288}},
            "sources": {"m": {"title": f"Manual {EVIL}", "document_digest": sha256(manual.read_bytes())}},
            "provenance": {
                "memories.sram.size_bytes": {"source": "m", "page": 1, "box": list(BOX), "text": "SRAM: 512 KiB"}
            },
        }
    )


def reviewed_policy(spec):
    """One action with all that an action can tell."""
    effect = Effect(
        outputs=(OutputEffect(output="y", sqnr_db=31.25, worst_channel_sqnr_db=20.0, worst_channel=3),),
        samples=32,
        data="calibration.npz",
    )
    told = action(
        EVIL,
        nodes=(EVIL,),
        sentence=f"Do it {EVIL}",
        why=(Reason(claim="It fits.", spec_field="memories.sram.size_bytes", spec_value="524,288 bytes", law=EVIL),),
        alternatives=(Alternative(option="float32", reason="four times the bytes"),),
        evidence=Measured(alone=effect, predicted_time_us=(-7.5, -2.5), predicted_bytes=-1024),
        risk=Risk(level="medium", facts=("It rests on something.",)),
    )
    return policy(told, action("conv_1", "high"), spec_digest=spec.values_digest)


class Page(HTMLParser):
    """Tags, addresses and visible words of a page."""

    def __init__(self, data):
        super().__init__()
        self.tags, self.addresses, self.words = [], [], ""
        self.feed(data.decode())

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            assert not name.startswith("on")
            assert name != "style"
            if name in ("src", "href", "action", "data", "poster", "srcset"):
                self.addresses.append(value)

    def handle_data(self, data):
        self.words += data


def page_of(log, of, spec, **more):
    state = current_state(log, of, TRUST)
    given = {"pictures": {}, "absent": {}, "faults": check_log(log), "head": log.head(), "trust": TRUST} | more
    return review_html(state, log.records(state.lineage), Evidence(spec=spec, **given), DAY)


def test_everything_that_was_said_stands_on_the_page(log, manual):
    spec = spec_of(manual)
    of = reviewed_policy(spec)
    first, second = (each.id for each in of.actions)
    say(log, of, "bob", first, "comment", reason="Which data?")
    say(log, of, "eve", first, "comment", reason="The calibration set", thread=2)
    say(log, of, "bob", first, "approve", justification=JUSTIFICATION)
    say(log, of, "ada", second, "override", override=False, reason="Keep it float", expires="2026-11-30T12:00:00Z")
    say(log, of, "eve", second, "reject", reason="Never on this chip")
    words = " ".join(Page(page_of(log, of, spec)).words.split())
    for said in (
        "1 of 2 actions are approved; 1 still block signing.",
        f"The record is whole: {log.head().seq} events, chained by hashes, up to {log.head().hash}",
        "memories.sram.size_bytes = 524,288 bytes",
        'page 1: "SRAM: 512 KiB"',
        "alone, output y: 31.2 dB signal-to-noise, worst channel 3 20.0 dB",
        "time will change by -7.5 to -2.5 µs on the spec",
        "bytes moved change by -1,024",
        "It rests on something.",
        "float32: four times the bytes",
        f"bob approved it on {AT}, at medium risk.",
        "Why it may stand: measured",
        "Effect on accuracy: 0.1 dB",
        "Fallback: keep float",
        f"eve rejected it on {AT}: Never on this chip",
        f"bob, {AT}: Which data?",
        f"eve, {AT}: The calibration set",
        "As of 2026-12-01T00:00:00Z: 0 in use, 0 no longer needed, 1 expired.",
        "switched offexpiredadaKeep it floatnot measured: a test of the record2026-11-30T12:00:00Z",
        of.digest,
        spec.values_digest,
        TRUST.digest,
        sha256(manual.read_bytes()),
        *(each.action.content_digest for each in current_state(log, of, TRUST).actions),
    ):
        assert said in words, said
    for record in log.records():
        assert f"{record.seq} {record.event.at} {record.event.actor}" in words


def test_names_are_never_markup_and_nothing_is_fetched(log, manual):
    spec = spec_of(manual)
    of = reviewed_policy(spec)
    say(log, of, "bob", of.actions[0].id, "comment", reason=EVIL)
    data = page_of(log, of, spec)
    page = Page(data)
    assert not {"script", "img", "iframe", "object", "embed", "link", "form", "base"} & set(page.tags)
    assert page.words.count(EVIL) >= 5
    assert all(address.startswith(("#", "data:image/png;base64,")) for address in page.addresses)
    (policy_line,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', data.decode())
    style = re.search(r"<style>(.*?)</style>", data.decode(), re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy_line.startswith(f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:;")


def test_changed_record_is_said_first(log, manual):
    data = page_of(log, POLICY, spec_of(manual), faults=(LogFault(seq=2, what="Event 2 was changed."),)).decode()
    assert data.index("Someone changed the record") < data.index("<h2>")
    assert "Event 2 was changed." in data
    assert "The record is whole" not in data


def test_the_manuals_place_is_cut_out_once_and_shown_for_each_reason(log, manual):
    spec = spec_of(manual)
    reason = Reason(claim="It fits.", spec_field="memories.sram.size_bytes")
    of = policy(action("a", why=(reason,)), action("b", why=(reason, reason)), spec_digest=spec.values_digest)
    (spot,) = spots_of(of, spec)
    pictures = pictures_of((spot,), {spot.document_digest: manual}, cutter(), quiet)
    data = page_of(log, of, spec, pictures=pictures).decode()
    assert data.count("data:image/png;base64,") == 1
    assert data.count('<use href="#cutout-1"/>') == 3
    picture = Image.open(io.BytesIO(pictures[spot])).convert("RGB")
    assert picture.size == (720, 168)
    marked = sum(1 for red, green, blue in picture.get_flattened_data() if blue < 200 and red > 200)
    assert marked > 240 * 20 * 0.5  # the box of 120 x 14 points at two pixels a point, but for the letters


def test_a_place_that_cannot_be_drawn_says_why(log, manual, tmp_path):
    spec = spec_of(manual)
    of = reviewed_policy(spec)
    state = current_state(log, of, TRUST)

    def exported():
        workspace = tmp_path / "workspace"
        found = functools.partial(manual_with, workspace)
        return export_page(workspace, log, state, spec, found, DAY, quiet).decode()

    assert "data:image/png" in exported()
    manual.write_bytes(b"%PDF-1.4 broken")
    assert "This document is not in the workspace." in exported()  # its digest is another now
    manual.unlink()
    assert "This document is not in the workspace." in exported()


def test_the_same_record_gives_the_same_bytes_in_any_process(log, manual, tmp_path):
    spec = spec_of(manual)
    of = reviewed_policy(spec)
    say(log, of, "bob", of.actions[0].id, "approve", justification=JUSTIFICATION)
    say(log, of, "ada", of.actions[0].id, "approve", justification=JUSTIFICATION)
    (tmp_path / "p.policy").write_bytes(of.to_json())
    (tmp_path / "chip_v1.0.0.yaml").write_bytes(spec.to_json())
    code = "import sys; from metainfer_core.cli import main; main()"
    pages = []
    for seed in ("1", "2"):
        output = tmp_path / f"{seed}.html"
        command = ["review", "export", "p.policy", "--format", "html", "--hw-spec", "chip_v1.0.0.yaml"]
        command += ["--as-of", "2026-11-30", "--output", str(output), "--workspace", "workspace"]
        done = subprocess.run(
            [sys.executable, "-c", code, *command],
            cwd=tmp_path,
            env={"PYTHONHASHSEED": seed, "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        pages.append(output.read_bytes())
    assert pages[0] == pages[1]
    assert Path(tmp_path / "1.html").read_text().count("data:image/png") == 1
    assert {CONV_0, CONV_1, ADD_2}.isdisjoint(pages[0].decode().split())
