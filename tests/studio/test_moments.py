import re

import pytest
from test_review import html, review, send, someone_else  # noqa: F401 - a fixture

from metainfer_core.errors import InputError
from studio.words.core_words import core_markup, refusal_words
from studio.words.moments import exact_moment, moment, moments_markup
from studio.words.plain_words import error_words

AT = "2026-11-30T08:15:07Z"
SHOWN = f'<time datetime="{AT}" title="{AT}">2026-11-30 08:15 UTC</time>'
LOW = "quantize@conv_2"
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")


@pytest.fixture
def chinese(monkeypatch):
    for module in ("studio.words.texts", "studio.words.core_words"):
        monkeypatch.setattr(f"{module}.language", lambda: "zh")


def test_a_moment_is_to_the_minute_and_the_exact_one_shows_when_one_points_at_it():
    assert moment(AT) == "2026-11-30 08:15 UTC"
    assert exact_moment(AT) == "2026-11-30 08:15:07 UTC"
    assert moments_markup(f"<b> valid until {AT}.") == f"&lt;b&gt; valid until {SHOWN}."
    assert core_markup(f"No sentence {AT}") == f"No sentence {SHOWN}"


@pytest.mark.parametrize("name", [f"run-{AT}.csv", f"a_{AT}", f"{AT}-2", "2026-11-30"])
def test_a_moment_within_a_name_is_part_of_the_name(name):
    assert moments_markup(name).endswith(name)
    assert "<time" not in moments_markup(name)


def test_refusals_say_it_to_the_second():
    refused = InputError("The override ended.", f"It is {AT} now; it held until 2026-11-30T08:15:06Z.")
    assert refusal_words(refused) == (
        "The override ended. It is 2026-11-30 08:15:07 UTC now; it held until 2026-11-30 08:15:06 UTC."
    )
    assert not STAMP.search(error_words(refused).replace("\\", ""))


@pytest.mark.usefixtures("chinese")
def test_a_chinese_sentence_has_its_moment_as_people_write_it():
    shown = core_markup(f"The trust file was valid until {AT}.")
    assert f'title="{AT}">世界时 2026-11-30 08:15</time>' in shown
    assert not STAMP.search(re.sub("<[^>]*>", "", shown))


def test_no_stamp_of_the_record_stands_on_the_review(review, tmp_path):  # noqa: F811
    page = review(action=LOW)
    send(page, (1, "approve", LOW, 0), selected=LOW)
    someone_else(tmp_path, LOW, "override", override={"bit_width": 16}, reason="loses too much")
    page.run()
    assert "Since your verdict (approved, " in html(page)
    times = re.findall(r'<time class="faint" datetime="[^"]*Z" title="[^"]*Z">[-\d]* [\d:]* UTC</time>', html(page))
    assert len(times) == 2
    assert not STAMP.search(re.sub("<[^>]*>", "", html(page)))
