import json
import subprocess
import sys

from drafts import CLOCK, DMA, OTP, ROM, small_draft, with_draft
from screens import ROOT, screen

from studio.drafts.corrections import export_corrections
from studio.drafts.desk_messages import take
from studio.words.texts import text

SHEET = "sha256:" + "0" * 64
OF_THE_ROM = [
    {
        "document": SHEET,
        "page": page,
        "text": words,
        "field": "memory.rom.size_bytes",
        "proposed": {"value": size, "unit": "B"},
        "corrected": None,
    }
    for page, words, size in ((1, "64 KB boot ROM", 65536), (2, "boot ROM 128 KB", 131072))
]
OF_THE_CLOCK = {
    "document": SHEET,
    "page": 3,
    "text": "NPU 200 800 1000 MHz",
    "field": "npu.clock_hz",
    "proposed": {"value": 800000000, "unit": "Hz", "min": 2e8, "typ": 8e8, "max": 1e9},
    "corrected": {"unit": "Hz", "min": 2e8, "max": 9e8},
}
OF_THE_OTP = {
    "document": SHEET,
    "page": 1,
    "text": "4 Kbit",
    "field": "memory.otp.size_bits",
    "proposed": {"value": 4096, "unit": "bit"},
    "corrected": {"unit": "bit", "value": 8192.0},
}


def decided(workspace):
    with_draft(workspace)
    events = [
        {"number": 1, "kind": "reject", "places": [ROM]},
        {"number": 2, "kind": "edit", "places": [CLOCK], "given": "{min: 200 MHz, max: 900 MHz}"},
        {"number": 3, "kind": "edit", "places": [OTP], "given": "8 Kbit"},
        {"number": 4, "kind": "accept", "places": [DMA], "choices": {DMA: 0}},
        {"number": 5, "kind": "edit", "places": ["power_max_w"], "given": "3 W"},
    ]
    assert take(
        {"draft": small_draft().digest, "window": "c" * 16, "events": events}, small_draft(), "ada", workspace
    ) == []  # fmt: skip


def test_what_people_corrected_is_a_line_each_and_what_they_confirmed_is_none(tmp_path):
    decided(tmp_path)
    path, count = export_corrections(tmp_path)
    assert (path, count) == (tmp_path / "corrections.jsonl", 4)
    assert [json.loads(line) for line in path.read_text().splitlines()] == [OF_THE_OTP, *OF_THE_ROM, OF_THE_CLOCK]


def test_the_command_writes_the_same_file(tmp_path):
    decided(tmp_path)
    command = [sys.executable, "-m", "studio.drafts.corrections", str(tmp_path), str(tmp_path / "c.jsonl")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == f"{tmp_path / 'c.jsonl'}: 4 corrections\n"
    export_corrections(tmp_path)
    assert (tmp_path / "c.jsonl").read_bytes() == (tmp_path / "corrections.jsonl").read_bytes()
    command[3] = str(tmp_path / "nowhere")
    assert subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 2


def test_the_button_is_there_once_something_was_corrected(tmp_path, monkeypatch):
    with_draft(tmp_path)
    assert not [each for each in screen("manuals", tmp_path, monkeypatch).button if each.key == "corrections"]
    decided_later = tmp_path / "w"
    decided(decided_later)
    page = screen("manuals", decided_later, monkeypatch)
    page.button(key="corrections").click().run()
    assert not page.exception
    assert len((decided_later / "corrections.jsonl").read_text().splitlines()) == 4
    assert text("corrections_written", count=4, file="corrections.jsonl") in [each.value for each in page.success]
