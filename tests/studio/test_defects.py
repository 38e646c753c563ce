"""A screen that stops by a defect says so in one sentence; a refusal that nobody awaited is said as it is."""

from streamlit.testing.v1 import AppTest

from studio.words.texts import text


def defective():
    from studio.server.frame import run_screen

    class Screen:
        def run(self):
            raise KeyError("risk_high")

    run_screen(Screen())


def refused():
    from metainfer_core.errors import InputError
    from studio.server.frame import run_screen

    class Screen:
        def run(self):
            raise InputError("The folder cannot be written.", fix="Choose another.")

    run_screen(Screen())


def test_a_defect_is_said_to_people_and_still_raised():
    page = AppTest.from_function(defective, default_timeout=60).run()
    assert [error.value for error in page.error] == [text("defect")]
    assert len(page.exception) == 1


def test_a_refusal_that_a_screen_did_not_await_is_said_as_it_is():
    page = AppTest.from_function(refused, default_timeout=60).run()
    assert [error.value for error in page.error] == [r"The folder cannot be written\. Choose another\."]
    assert not page.exception
