"""Names of a hundred letters and more: both ends are shown, the whole can be pointed at and copied."""

import html
import json
import re

from fitted import PATH
from streamlit.testing.v1 import AppTest
from test_review import html as shown
from test_review import open_popover, review  # noqa: F401

from studio.words.long_names import MOST_LETTERS, cut_names, short_words, shortened

NAME = "StatefulPartitionedCall/model/re_lu_1/Relu;StatefulPartitionedCall/model/batch_normalization_3/FusedBatchNormV3"


def test_a_name_keeps_both_its_ends():
    assert shortened("abcdefghij", 10) == "abcdefghij"
    assert shortened("abcdefghijk", 10) == "abcd…ghijk"
    assert short_words(f"Fuse with {'a' * 30}{'b' * 30}, c", 11) == "Fuse with aaaaa…bbbb, c"


def test_only_the_middle_of_long_names_is_hidden():
    cut = cut_names(f'<p title="{NAME}">Why {NAME} <code>{NAME}</code></p><svg><title>{NAME}</title></svg>')
    assert re.sub("<[^>]*>", "", cut).count(NAME) == 3  # what is copied is whole
    assert cut.count('<span class="cut">') == 2
    assert cut.count(f'title="{NAME}"') == 3
    seen = re.sub(r'<span class="cut">.*?</span>', "…", cut)
    assert re.search(r">(Stateful[^<]*…[^<]*)<", seen)[1] == shortened(NAME, MOST_LETTERS)
    assert f"<title>{NAME}</title>" in cut
    assert cut_names(cut_names("sha256:" + "0" * 64)) == "sha256:" + "0" * 64


def test_what_is_escaped_stays_so():
    hostile = "<img/src=x/onerror=alert(1)>&\"'" * 4
    cut = cut_names(html.escape(hostile))
    assert html.unescape(re.sub(r"</?span[^>]*>", "", cut)) == hostile
    assert cut.count("<") == cut.count("<span") + cut.count("</span")
    assert re.search(r'title="([^"]*)"', cut)[1] == html.escape(hostile)


def test_the_card_and_the_list_show_them_so(review, tmp_path):  # noqa: F811
    plain = json.loads((tmp_path / PATH).read_bytes())
    plain["actions"][2] |= {"node_id": NAME, "nodes": [NAME], "sentence": f"Compute {NAME} in INT8."}
    plain["actions"][2]["why"] = [{"claim": f"{NAME} is read twice."}]
    (tmp_path / PATH).write_text(json.dumps(plain))
    page = review(action=f"quantize@{NAME}")
    card = shown(page)
    assert f"quantize@{NAME}" in re.sub("<[^>]*>", "", card)
    assert f"{NAME} is read twice." in re.sub("<[^>]*>", "", card)
    assert card.count('<span class="cut">') == 4  # its name, its sentence, its reason, its node
    open_popover(page, "bulk")
    (line,) = [each for each in page.checkbox if "Stateful" in each.label]
    assert shortened(f"quantize@{NAME}", 60).replace("…", "") in line.label.replace("\\", "").replace("…", "")
    assert NAME in line.help.replace("\\", "")
    assert {each.help for each in page.checkbox if "Stateful" not in each.label and each.key.startswith("bulk")} == {""}


def test_a_box_shows_a_long_name_without_its_middle_and_the_whole_to_who_points_at_it():
    def page(name):
        from studio.words.alerts import draw_alert

        draw_alert("error", f"The node {name} is not in <b>this</b> model.")
        draw_alert("warning", f"Others were faster:\nada approved {name}\nben did not", then="Look at it.")
        draw_alert("success", "Approved *all*.")

    drawn = AppTest.from_function(page, args=(NAME,)).run()
    assert not drawn.exception
    error, warning = (each.proto.body for each in drawn.get("html"))
    for box, how in ((error, "error"), (warning, "warning")):
        assert f'class="mi alert {how}" role="alert"' in box
        assert f'title="{NAME}"' in box
        assert re.sub(r'<span class="cut">.*?</span>', "…", box).count(shortened(NAME, MOST_LETTERS)) == 1
    assert "&lt;b&gt;this" in error
    assert re.findall("<li>(.*?)</li>", warning)[1] == "ben did not"
    assert "<p>Look at it.</p>" in warning
    (success,) = drawn.success  # without a long name it is Streamlit's own box
    assert success.value == "Approved \\*all\\*\\."
    short = AppTest.from_function(page, args=("relu_1",)).run()
    assert short.warning[0].value.replace("\\", "") == (
        "Others were faster:\n- ada approved relu_1\n- ben did not\n\nLook at it."
    )
