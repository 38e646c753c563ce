"""What a job is called is worded when it is shown: the reader's language can be another than when it began."""

import sys
import time

import pytest
from screens import screen

from studio.background import jobs
from studio.background.jobs import Order, Title
from studio.words.core_words import in_chinese
from studio.words.language import LANGUAGES
from studio.words.plain_words import plain_words
from studio.words.texts import text

FITTING = Title(words="adapt_title", values={"model": "net.onnx", "chip": "esp32s3"})


@pytest.fixture
def shown(tmp_path, monkeypatch):
    """Starts a job that breaks off, and gives what Home says of it in a language."""
    monkeypatch.setattr(jobs, "COMMAND", (sys.executable, "-c", "exit(3)"))

    def start(title):
        jobs.start(Order(kind="adapt", title=title, arguments=("x",)), tmp_path)
        end = time.monotonic() + 60
        while jobs.jobs(tmp_path)[0].is_open and time.monotonic() < end:
            time.sleep(0.05)

        def words(language):
            page = screen("home", tmp_path, monkeypatch)
            page.session_state["lang"] = language
            page.run()
            return [each.value for each in (*page.text, *page.error)]

        return words

    return start


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_title_speaks_the_language_of_who_reads_it(shown, language):
    words = shown(FITTING)(language)
    assert text("adapt_title", language, model="net.onnx", chip="esp32s3") in words
    failed = {"en": "This job failed.", "zh": in_chinese("This job failed.")}
    assert failed["en"] != failed["zh"]
    assert plain_words(failed[language]) in words


def test_a_job_of_an_earlier_version_keeps_its_title_and_one_of_a_later_version_says_its_kind(shown, tmp_path):
    earlier = shown("Fitting net.onnx to esp32s3")
    assert "Fitting net.onnx to esp32s3" in earlier("zh")
    later = shown(Title(words="no_text_of_this_version"))
    assert "adapt" in later("en")


def test_what_is_said_of_a_lost_job_is_translated():
    for sentence in (
        "This job cannot be started.",
        "This job ended without an answer.",
        "Its process was killed, or the machine was restarted.",
        "The disk of the workspace is full.",
        "It ended with status 3.",
        "Mend what it says and start it again.",
    ):
        assert in_chinese(sentence) != sentence, sentence
