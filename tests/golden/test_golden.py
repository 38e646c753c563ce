from golden_files import FOLDER, golden_files


def test_decisions_words_and_code_are_as_they_were():
    made = golden_files()
    assert {path.name for path in FOLDER.glob("*")} == set(made), "run `make golden` and read the difference"
    for name, content in made.items():
        assert (FOLDER / name).read_bytes() == content, f"{name} has changed: run `make golden` and read the difference"
