"""The reader of console blocks is a check, so it has planted mistakes that it must catch."""

import os

import pytest
from console_blocks import commands_of, first_missing, run

PAGE = """\
```console
$ printf 'one\\ntwo 42 apples\\nthree\\n' \\
    | cat
one
two ... apples
...
$ exit 3  # exit status 3
```
"""


def page(tmp_path, text):
    path = tmp_path / "page.md"
    path.write_text(text)
    return commands_of(path)


def test_commands_run_and_are_compared(tmp_path):
    first, second = page(tmp_path, PAGE)
    assert first.words == [["printf", "one\\ntwo 42 apples\\nthree\\n"], ["cat"]]
    assert (first.place, second.place, second.status) == ("page.md:2", "page.md:7", 3)
    assert run(first, tmp_path, dict(os.environ), 10) == "one\ntwo 42 apples\nthree\n"
    run(second, tmp_path, dict(os.environ), 10)


@pytest.mark.parametrize(
    "wrong", [("exit 3", "exit 2"), ("two ...", "three ..."), ("| cat", "| tac"), ("| cat", "| false")]
)
def test_what_is_not_as_shown_fails(tmp_path, wrong):
    commands = page(tmp_path, PAGE.replace(*wrong))
    with pytest.raises(AssertionError, match=r"page\.md:\d"):
        [run(command, tmp_path, dict(os.environ), 10) for command in commands]


def test_lines_must_come_in_order():
    assert first_missing(("a", "...", "c"), "a\nb\nc\n") is None
    assert first_missing(("c", "a"), "a\nb\nc\n") == "a"
    assert first_missing(("a...z",), "a to y\n") == "a...z"
