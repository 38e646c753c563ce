"""Names of a hundred letters and more: both ends are shown, the whole can be pointed at and copied."""

import html
import json
import re

from fitted import PATH
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
