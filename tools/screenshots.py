"""Pictures of every screen of the studio at two widths, light and dark: python tools/screenshots.py [WORKSPACE].

Without a workspace, one is made from the sample: read, accepted, adapted, reviewed, signed, compiled. They go to
docs/screens/.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "studio"))

from browsing import Studio, settled  # noqa: E402

OUT = ROOT / "docs" / "screens"
WIDTHS = {1280: 900, 1920: 1080}
MODEL, SPEC, POLICY = (
    "text_direction.onnx",
    "specs/tarnholt_v200_v1.0.0.yaml",
    "policies/text_direction_on_tarnholt_v200.policy",
)
SCREENS = {
    "home": "",
    "manuals": "manuals",
    "confirm": "confirm",
    "specs": "specs",
    "spec": f"specs?spec={SPEC}",
    "model": f"model?model={MODEL}&spec={SPEC}&node=Conv%401",
    "adapt": f"adapt?model={MODEL}&spec={SPEC}",
    "review": f"review?policy={POLICY}&action=quantize%40Conv%401",
    "sign": f"sign?policy={POLICY}",
    "report": "report",
}
EMPTY = ("home", "manuals", "confirm", "model", "adapt", "review", "sign", "report")
TABS = {
    "model_roofline": "Roofline",
    "model_groups": "Graph",
    "model_pictures": "Pictures",
    "model_graph": "Graph (Netron)",
}
SETTLE_MS, PATIENCE_MS = 1500, 600_000
VALUES = (
    "compute_units.cpu.data_types=[int8, float32]",
    "compute_units.cpu.macs_per_cycle.int8=16",
    "compute_units.cpu.macs_per_cycle.float32=4",
    "compute_units.cpu.launch_overhead_us={min: 0.2, typ: 1, max: 5}",
    "compute_units.npu.launch_overhead_us={min: 10, typ: 50, max: 200}",
    "compute_units.npu.operators.fallback=cpu",
    "memories.dram.bandwidth_gbps=12.8",
    "memories.npu_sram.bandwidth_gbps={min: 16, typ: 32, max: 64}",
)


def make_workspace(folder: Path) -> None:
    """The sample, all the way to a package."""
    os.environ["XDG_CONFIG_HOME"] = str(folder / "keys")
    work = folder / "w"
    model, policy, spec = work / MODEL, work / POLICY, work / SPEC
    sheet, draft = work / "tarnholt_v200_datasheet.pdf", work / "drafts" / "tarnholt_v200.yaml"
    bundle = work / "bundles" / "text_direction_on_tarnholt_v200_1.bundle"
    package = work / "packages" / "text_direction_on_tarnholt_v200_1.bin"
    shape = ("--input-shape", "x=[1,3,48,192]")
    common = ("--model", model, "--hw-spec", spec)
    lines = ("--why-allowed", "measured", "--accuracy-effect", "within the budget", "--fallback", "switch it off")
    run("sample", work)
    run("ingest", sheet, "--chip", "tarnholt_v200", "--output", draft)
    sets = [word for value in VALUES for word in ("--set", value)]
    run("spec", "accept", draft, "--all", "--by", "ada", "--output", spec, *sets)
    data = ("--calib", work / "calibration.npz", "--eval", work / "evaluation.npz")
    run("adapt", *common, *shape, *data, "--fast-mode", "--output", policy)
    actions = [each["id"] for each in answer("review", "list", policy, "--workspace", work)["actions"]]
    named = [word for action in actions for word in ("--action", action)]
    run("review", "decide", policy, *named, "--approve", *lines, "--as", "ada", "--workspace", work)
    secret = folder / "passphrase"
    secret.write_text("correct horse battery staple")
    made = answer("keys", "new", "ada", passphrase=secret)
    run("keys", "trust", made["public_key"], "--role", "reviewer", "--role", "releaser", "--workspace", work)
    bundle.parent.mkdir()
    run("sign", policy, *common, "--key", "ada", "--workspace", work, "--output", bundle, passphrase=secret)
    run("compile", *common, *shape, "--policy", bundle, "--trust", work / "trust.json", "--eval", data[3], "--output",
        package)  # fmt: skip
    some = [word for action in actions[::3] for word in ("--action", action)]
    run("review", "decide", policy, *some, "--withdraw", "--as", "ada", "--workspace", work)  # something is open again


def run(*words: object, passphrase: Path | None = None) -> str:
    """Runs a command of meta-infer."""
    print("meta-infer", *words[:3], flush=True)
    command = [sys.executable, "-m", "metainfer_core", *map(str, words), "--json"]
    if passphrase is None:
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    with passphrase.open() as secret:
        number = secret.fileno()
        command += ["--passphrase-fd", str(number)]
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, pass_fds=(number,)).stdout


def answer(*words: object, passphrase: Path | None = None) -> dict:
    """What a command answers."""
    return json.loads(run(*words, passphrase=passphrase))


def shoot(studio: Studio, screens: dict[str, str], only: list[str]) -> None:
    """All pictures of these screens."""
    OUT.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for width, height in WIDTHS.items():
            for scheme in ("light", "dark"):
                page = browser.new_context(
                    viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
                ).new_page()
                page.set_default_timeout(PATIENCE_MS)
                for name, address in screens.items():
                    if only and name not in only:
                        continue
                    page.goto(f"{studio.address}/{address}")
                    ready(page)
                    save(page, f"{name}_{width}_{scheme}")
                    for tab, label in TABS.items() if name == "model" else ():
                        page.get_by_role("tab", name=label, exact=True).click()
                        ready(page)
                        save(page, f"{tab}_{width}_{scheme}")
                page.context.close()
        browser.close()


def ready(page: Page) -> None:
    page.wait_for_selector('[data-testid="stMainBlockContainer"] > *')
    settled(page)
    page.wait_for_timeout(SETTLE_MS)
    settled(page)
    page.wait_for_function("[...document.images].every((each) => each.complete)")
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0, timeout=PATIENCE_MS)  # of a table
    expect(page.get_by_text("Drawing the page")).to_have_count(0, timeout=PATIENCE_MS)  # of a manual
    expect(page.get_by_test_id("stProgress")).to_have_count(0, timeout=PATIENCE_MS)  # a job reads something first
    settled(page)


def save(page: Page, name: str) -> None:
    shot = Image.open(io.BytesIO(page.screenshot()))
    shot.convert("RGB").quantize(256).save(OUT / f"{name}.png", optimize=True)
    print(f"docs/screens/{name}.png", flush=True)


def main(words: list[str]) -> None:
    """Makes a workspace or takes the one that is given, and shoots; more words name the screens wanted."""
    folder = Path(words[0]) if words else Path(tempfile.mkdtemp())
    if not (folder / "w").exists():
        make_workspace(folder)
    studio = Studio(folder, LOGNAME="ada", USER="ada").start()
    try:
        shoot(studio, SCREENS, words[1:])
    finally:
        studio.stop()
    if len(words) < 2:
        nothing = Studio(Path(tempfile.mkdtemp()), LOGNAME="ada", USER="ada").start()
        try:
            shoot(nothing, {f"{name}_empty": name if name != "home" else "" for name in EMPTY}, [])
        finally:
            nothing.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
