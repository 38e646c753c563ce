import importlib
import re
import string
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from studio.drafts.confirm_desk import SCRIPTS
from studio.drafts.desk_data import KEYS, WORDS
from studio.server.frame import PAGES
from studio.words.language import LANGUAGES, preferred_language
from studio.words.texts import TEXTS, text

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("speaks", ["en", "zh"])
def test_no_tab_of_a_model_is_called_like_another(speaks):
    names = [text(key, speaks) for key in ("model_nodes", "model_roofline", "graph_view", "pictures", "model_graph")]
    assert [(one, other) for one in names for other in names if one != other and one in other] == []


def test_every_text_that_is_used_exists_and_every_text_is_used():
    sources = [path.read_text() for folder in ("studio", "pages") for path in (ROOT / folder).rglob("*.py")]
    code = "\n".join(sources)
    for table in (ROOT / "studio" / "words").glob("texts*.py"):
        code = code.replace(table.read_text(), "")
    code += "".join(path.read_text() for path in (ROOT / "studio" / "words" / "templates").glob("*.jinja"))
    code = code.replace("'", '"')
    used = set(re.findall(r"\btext\(\s*\"(\w+)\"", code)) | {f"page_{name}" for name, _ in PAGES}
    assert used <= set(TEXTS)
    # A key may be put together: text(f"state_{station.state}").
    beginnings = tuple(re.findall(r"\btext\(\s*f[\"'](\w+_)\{", code))
    desk = "".join((ROOT / "studio" / "drafts" / f"{name}.js").read_text() for name in SCRIPTS)
    said_by_desk = {WORDS + word for word in re.findall(r"\"(\w+)\"", desk)} | {f"{WORDS}{act}" for act, _, _ in KEYS}
    beginnings += tuple(WORDS + word for word in re.findall(r"`(\w+_)\$\{", desk))
    assert {WORDS + word for word in re.findall(r"\bwords\(\"(\w+)\"", desk)} <= set(TEXTS)
    unused = {
        key for key in TEXTS if f'"{key}"' not in code and key not in said_by_desk and not key.startswith(beginnings)
    }
    assert unused == set()


def placeholders(words):
    return {name for _, name, _, _ in string.Formatter().parse(words) if name is not None}


def test_every_text_is_there_in_every_language_with_the_same_placeholders():
    for key, words in TEXTS.items():
        assert set(words) == set(LANGUAGES), key
        assert all(each.strip() for each in words.values()), key
        assert placeholders(words["zh"]) == placeholders(words["en"]), key
    modules = [
        importlib.import_module(f"studio.words.{path.stem}")
        for path in (ROOT / "studio" / "words").glob("texts_zh*.py")
    ]
    chinese = [getattr(each, each.__name__.removeprefix("studio.words.").upper()) for each in modules]
    assert sum(map(len, chinese)) == len(TEXTS)  # none twice, and none of a text that has gone


def test_one_is_no_plural():
    assert text("bulk_done", "en", count=1) == "1 action is approved."
    assert text("bulk_done", "en", count=42) == "42 actions are approved."
    assert text("sign_blocked", "en", count=1, total=8) == "1 of 8 actions blocks signing."
    assert text("bulk_confirm", "en", count=1) == "Approve this 1"
    assert text("bulk_confirm", "en", count=42) == "Approve these 42"
    assert text("bulk_open", "en", count=1) == "1 of low risk is open: look at it and approve"
    assert text("bulk_done", "zh", count=1) == "已批准 1 个动作。"


def test_chinese_texts_are_chinese():
    without = {key for key, words in TEXTS.items() if not re.search("[\u4e00-\u9fff]", words["zh"])}
    assert {key for key in without if re.search("[A-Za-z]{3}", re.sub(r"{\w+}", "", TEXTS[key]["zh"]))} == set()
    assert without == {"n_of_m", "job_of", "colon", "list_mark"}


@pytest.mark.parametrize(
    ("header", "first"),
    [
        ("", "en"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("en-GB,en;q=0.9,zh;q=0.8", "en"),
        ("fr-FR,fr;q=0.9,zh-TW;q=0.5", "zh"),
        ("de, *;q=0.1", "en"),
    ],
)
def test_a_browser_that_prefers_a_language_gets_it(header, first):
    assert preferred_language(header) == first


def test_a_link_opens_in_its_language_which_every_screen_keeps(tmp_path, monkeypatch):
    monkeypatch.setenv("METAINFER_WORKSPACE", str(tmp_path))
    monkeypatch.chdir(ROOT)
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    page.query_params["lang"] = "zh"
    page.run()
    assert not page.exception
    assert page.title[0].value == TEXTS["home_title"]["zh"]
    page.switch_page("pages/sign.py").run()
    assert page.title[0].value == TEXTS["page_sign"]["zh"]


def test_the_address_holds_a_language_that_is_another_than_the_browsers():
    def script():
        import streamlit as st

        from studio.words.language import choose_language, language, settle_language

        settle_language()
        st.text(language())
        st.button("change", on_click=choose_language, args=("zh" if language() == "en" else "en",))

    page = AppTest.from_function(script, default_timeout=60)
    page.query_params["lang"] = "xx"  # anything can stand in an address
    page.run()
    assert (page.text[0].value, dict(page.query_params)) == ("en", {})
    page.button[0].click().run()
    assert (page.text[0].value, dict(page.query_params)) == ("zh", {"lang": "zh"})
    page.button[0].click().run()
    assert (page.text[0].value, dict(page.query_params)) == ("en", {})


def test_the_language_changes_on_a_screen_that_takes_files():
    def script():
        import streamlit as st

        from studio.words.language import choose_language, language, settle_language

        settle_language()
        st.file_uploader("models", key="models")
        st.selectbox("mode", ["balanced"], key="mode")
        st.text(language())
        st.button("change", on_click=choose_language, args=("zh",))

    page = AppTest.from_function(script, default_timeout=60).run()
    page.button[0].click().run()
    assert not page.exception
    assert page.text[0].value == "zh"
