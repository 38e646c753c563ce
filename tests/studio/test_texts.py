import re
from pathlib import Path

from studio.confirm_desk import SCRIPTS
from studio.desk_data import KEYS, WORDS
from studio.frame import PAGES
from studio.texts import TEXTS

ROOT = Path(__file__).parents[2]


def test_every_text_that_is_used_exists_and_every_text_is_used():
    sources = [path.read_text() for folder in ("studio", "pages") for path in (ROOT / folder).rglob("*.py")]
    code = "\n".join(sources)
    for table in (ROOT / "studio").glob("texts*.py"):
        code = code.replace(table.read_text(), "")
    code += "".join(path.read_text() for path in (ROOT / "studio" / "templates").glob("*.jinja"))
    code = code.replace("'", '"')
    used = set(re.findall(r"\btext\(\s*\"(\w+)\"", code)) | {f"page_{name}" for name, _ in PAGES}
    assert used <= set(TEXTS)
    # A key may be put together: text(f"state_{station.state}").
    beginnings = tuple(re.findall(r"\btext\(\s*f[\"'](\w+_)\{", code))
    desk = "".join((ROOT / "studio" / f"{name}.js").read_text() for name in SCRIPTS)
    said_by_desk = {WORDS + word for word in re.findall(r"\"(\w+)\"", desk)} | {f"{WORDS}{act}" for act, _, _ in KEYS}
    beginnings += tuple(WORDS + word for word in re.findall(r"`(\w+_)\$\{", desk))
    assert {WORDS + word for word in re.findall(r"\bwords\(\"(\w+)\"", desk)} <= set(TEXTS)
    unused = {
        key for key in TEXTS if f'"{key}"' not in code and key not in said_by_desk and not key.startswith(beginnings)
    }
    assert unused == set()


def test_every_text_is_there_in_english():
    assert all(words.get("en", "").strip() for words in TEXTS.values())
