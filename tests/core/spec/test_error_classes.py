"""The examples of the reference: the bad form has the error of its class, the good one has none of it."""

import datetime

import pytest
from spec_texts import FILE_NAME

from metainfer_core.spec.checking.error_classes import CLASSES
from metainfer_core.spec.checking.validate import validate

TODAY = datetime.date(2026, 6, 1)


def codes(part):
    return [finding.code for finding in validate(f"name: tiny\nversion: 1.0.0\n{part}".encode(), FILE_NAME, TODAY)]


def test_there_are_the_seventeen_classes_and_the_unreadable_file():
    assert list(CLASSES) == [f"HW{number:03}" for number in range(18)]
    assert [code for code, each in CLASSES.items() if each.needs_document] == ["HW014", "HW017"]


@pytest.mark.parametrize("code", [code for code, each in CLASSES.items() if not each.needs_document])
def test_the_bad_form_is_found_and_the_good_one_is_not(code):
    assert code in codes(CLASSES[code].bad)
    assert code not in codes(CLASSES[code].good)


@pytest.mark.parametrize("code", CLASSES)
def test_every_class_says_why_and_differs_in_what_it_shows(code):
    each = CLASSES[code]
    assert each.code == code
    assert each.why.endswith(".")
    assert each.bad != each.good
    if code != "HW000":
        assert not {"HW000", "HW002", "HW003"} & set(codes(each.good))
