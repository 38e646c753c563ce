"""Every text of the interface, in one table. English now; a second column takes the next language."""

from __future__ import annotations

TEXTS: dict[str, dict[str, str]] = {
    "home": {"en": "Home"},
    "workspace": {"en": "Workspace"},
    "workspace_place": {"en": "Everything the studio keeps lies in `{place}`. Nothing leaves this machine."},
    "workspace_empty": {"en": "The workspace is empty. Start with the sample, a manual, a model or a spec file."},
    "kind": {"en": "Kind"},
    "name": {"en": "Name"},
    "size": {"en": "Size (bytes)"},
    "commands": {"en": "The loop, on the command line"},
    "commands_hint": {"en": "Every command has `-h` with an example and `--json` for scripts."},
    "step_ingest": {"en": "Read a chip's manual into a draft"},
    "step_accept": {"en": "Accept the draft's values as a spec"},
    "step_adapt": {"en": "Propose how to fit a model to the chip"},
    "step_explain": {"en": "Read why each action is there"},
    "step_review": {"en": "Approve, override or send back"},
    "step_sign": {"en": "Sign what was approved"},
    "step_compile": {"en": "Compile only what was signed"},
    "step_run": {"en": "Run the package"},
    "manual": {"en": "Manual"},
    "draft_or_spec": {"en": "Draft or spec"},
    "model": {"en": "Model"},
    "policy": {"en": "Policy"},
    "bundle": {"en": "Signed bundle"},
    "package": {"en": "Package"},
}


def text(key: str, language: str = "en", **values: object) -> str:
    """The text of `key` with its values filled in; KeyError if there is none, so that a gap is found by a test."""
    return TEXTS[key][language].format(**values)
