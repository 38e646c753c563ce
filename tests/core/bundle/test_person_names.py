"""Names of people: letters that look alike, and signs that nobody sees."""

import pytest

from metainfer_core.bundle.person_names import look_of, name_fault, spelled_alike
from metainfer_core.bundle.trust import TrustFile
from metainfer_core.errors import InputError


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("\u0410da Lovelace", "Cyrillic (U+0410 CYRILLIC CAPITAL LETTER A) and Latin (U+0064 LATIN SMALL LETTER D)"),
        ("Ada L\u03bfvelace", "Latin (U+004C LATIN CAPITAL LETTER L) and Greek (U+03BF GREEK SMALL LETTER OMICRON)"),
        ("Ada\u200b Lovelace", "U+200B ZERO WIDTH SPACE, which nobody sees"),
        ("\u202eecalevoL adA", "U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("Ada\x00", "U+0000 without a name"),
        ("\uff21d\u0430", "Cyrillic (U+0430 CYRILLIC SMALL LETTER A)"),
    ],
)
def test_names_that_could_be_taken_for_others_are_refused_with_their_code_points(name, says):
    assert says in name_fault(name)
    with pytest.raises(InputError) as caught:
        TrustFile.from_plain({"people": [{"id": "ada", "name": name, "roles": ["reviewer"]}]}, "trust file")
    assert says in caught.value.why


@pytest.mark.parametrize(
    "name",
    [
        "Ada Lovelace",
        "Zo\u00eb O'Neill-Garc\u00eda",
        "\u042e\u0440\u0438\u0439 Gagarin",
        "\u0393\u03b9\u03ce\u03c1\u03b3\u03bf\u03c2",
        "\u738b\u5c0f\u660e (Leo)",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\u0928\u093f\u0924\u0940\u0936",
        "",
    ],
)
def test_names_of_people_are_kept(name):
    assert name_fault(name) is None
    kept = TrustFile.from_plain({"people": [{"id": "ada", "name": name, "roles": ["reviewer"]}]}, "trust file")
    assert kept.people[0].name == name


def test_whole_names_in_letters_that_look_alike_count_as_one_name():
    """All letters of a word can come from one script and still look like another word."""
    latin, cyrillic, greek = "Cop Oxy", "\u0421\u043e\u0440 \u041e\u0445\u0443", "\u039f\u03a7"
    assert name_fault(cyrillic) is None
    assert spelled_alike(latin, cyrillic)
    assert look_of(greek) == look_of("OX")
    assert not spelled_alike(latin, "Cop Oxz")
    people = [{"id": "a", "name": latin, "roles": ["reviewer"]}, {"id": "b", "name": cyrillic, "roles": ["reviewer"]}]
    with pytest.raises(InputError, match="trust file"):
        TrustFile.from_plain({"people": people}, "trust file")
