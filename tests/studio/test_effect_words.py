"""The effect that an override was written with, in words of both languages, wherever the override is shown."""

import pytest
from fitted import PATH, fitted
from screens import screen

from metainfer_core.cost.estimate import Interval
from metainfer_core.numerics.metrics import Effect, OutputEffect
from metainfer_core.policy.what_if import MOVES_NOTHING, OFF, Forecast, Outcome, Side, WhatIf
from review_store.record.events import Overridden
from review_store.review.decide import Decision, decide
from review_store.review.workspace import now
from studio.files.policies import review_of, subject
from studio.review.override_effect import effect_words
from studio.words.moments import moment
from studio.words.texts import text

DIGEST = "sha256:" + 64 * "0"
ACTION = "quantize@conv"
GIVEN = {"actor": "ada", "at": "2026-11-30T09:15:07Z", "action": ACTION, "base_digest": DIGEST, "reason": "why"}


def outcome(*ratios):
    outputs = tuple(OutputEffect(output=f"y_{index}", sqnr_db=ratio) for index, ratio in enumerate(ratios))
    return Outcome(effect=Effect(outputs=outputs, samples=4, data="4 samples of a.npz"))


def forecast(typical, moved):
    time = None if typical is None else Interval(low=typical / 2, typical=typical, high=typical * 2)
    return Forecast(time_us=time, moved_bytes=moved)


MEASURED = WhatIf(
    data="4 samples of a.npz",
    data_digest=DIGEST,
    before=Side(
        content="a",
        alone={ACTION: outcome(37.64)},
        together=outcome(35.1, None),
        predicted=forecast(34.6, 2048),
    ),
    after=Side(
        content="b",
        alone={ACTION: Outcome(why_not=OFF)},
        together=outcome(None, 19.87),
        predicted=forecast(None, 512),
        broken=("y_1 has 19.9 dB; the budget is 20 dB.",),
    ),
)
ENGLISH = (
    "Measured on 4 samples of a.npz, signal to noise: by itself 37.6 dB → none (it is switched off); the whole policy "
    "35.1 dB → 19.9 dB.",
    "Over the accuracy budget: y_1 has 19.9 dB; the budget is 20 dB.",
    "Predicted: time 34.6 µs → unknown, bytes moved 2.00 KiB → 512 B.",
)
CHINESE = (
    "在 a.npz 的 4 个样本上实测的信噪比：单独 37.6 dB → 无（已关闭）；整个策略 35.1 dB → 19.9 dB。",
    "超出精度预算：y_1 为 19.9 dB；预算为 20 dB。",
    "预测：时间 34.6 µs → 未知，搬运字节 2.00 KiB → 512 B。",
)


@pytest.mark.parametrize(("language", "words"), [("en", ENGLISH), ("zh", CHINESE)])
def test_the_effect_is_told_in_both_languages(monkeypatch, language, words):
    for place in ("studio.words.texts.language", "studio.words.core_words.language"):
        monkeypatch.setattr(place, lambda: language)
    assert effect_words(Overridden(**GIVEN, override=False, measured=MEASURED)) == words


def test_why_it_was_not_measured_is_told_and_nothing_of_older_records():
    assert effect_words(Overridden(**GIVEN, override=False, unmeasured="no data")) == (
        "Its effect was not measured: no data",
    )
    assert effect_words(Overridden(**GIVEN, override=False)) == ()


def test_of_what_moves_no_number_only_the_whole_is_told():
    still = {ACTION: Outcome(why_not=MOVES_NOTHING)}
    placed = MEASURED.model_copy(
        update={
            "before": MEASURED.before.model_copy(update={"alone": still}),
            "after": MEASURED.after.model_copy(update={"alone": still, "broken": ()}),
        }
    )
    first, *_ = effect_words(Overridden(**GIVEN, override={"memory": {"x": "dram"}}, measured=placed))
    assert first == "Measured on 4 samples of a.npz, signal to noise: the whole policy 35.1 dB → 19.9 dB."


def test_no_error_at_all_is_said_so():
    same = Side(content="a", alone={}, together=outcome(None))
    found = MEASURED.plain() | {"before": same.plain(), "after": same.plain()}
    (measured, predicted) = effect_words(Overridden(**GIVEN, override=None, measured=WhatIf.from_plain(found)))
    assert measured == "Measured on 4 samples of a.npz, signal to noise: the whole policy exact → exact."
    assert predicted == "Predicted: time unknown → unknown, bytes moved unknown → unknown."


def test_who_signs_sees_it(tmp_path, monkeypatch):
    monkeypatch.setenv("METAINFER_WORKSPACE", str(tmp_path))
    fitted(tmp_path)
    review = review_of(subject(tmp_path / PATH))
    end = "2099-06-30T23:59:59Z"
    decision = Decision(
        "ada", ("place@x",), ("override",), reason="why", override=False, expires=end, unmeasured="no data <b>"
    )
    decide(review.log, review.state, decision, now(), None)
    page = screen("sign", tmp_path, monkeypatch, policy=PATH)
    shown = "".join(each.value for each in page.get("html"))
    assert "Its effect was not measured: no data &lt;b&gt;" in shown
    assert f"why · {text('told_until', at=moment(end))}" in shown
