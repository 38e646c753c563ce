"""What OCR saw is kept by the picture's digest: a picture that was seen costs no OCR again, another one does."""

import numpy as np

from hwdoc_ingest.ocr.ocr_engine import SeenWord
from hwdoc_ingest.ocr.ocr_kept import FOLDER_VARIABLE, KeptOcr, kept

WORDS = (
    SeenWord("32KB", ((0.5, 1.0), (9.25, 1.0), (9.25, 4.0), (0.5, 4.0)), 0.875),
    SeenWord("缓存", ((0, 0),) * 4, 1.0),
)


class Counting:
    """An engine that counts what it reads."""

    name = "counting"

    def __init__(self):
        self.read_images = 0

    def read(self, image):
        self.read_images += 1
        return WORDS if image.any() else ()


def picture(shade, height=4):
    return np.full((height, 6, 3), shade, np.uint8)


def test_a_picture_that_was_seen_is_not_read_again_and_says_the_same(tmp_path):
    first, second = Counting(), Counting()
    assert list(KeptOcr(first, "numpy", tmp_path).read(picture(9))) == list(WORDS)
    assert list(KeptOcr(second, "numpy", tmp_path).read(picture(9))) == list(WORDS)
    assert (first.read_images, second.read_images) == (1, 0)


def test_another_picture_another_shape_and_another_release_are_read(tmp_path):
    engine = Counting()
    for image in (picture(9), picture(0), picture(9, height=8), picture(9).reshape(6, 4, 3)):
        KeptOcr(engine, "numpy", tmp_path).read(image)
    assert engine.read_images == 4
    KeptOcr(engine, "pytest", tmp_path).read(picture(9))
    assert engine.read_images == 5


def test_nothing_is_kept_unless_the_environment_names_a_folder(tmp_path):
    engine = Counting()
    assert kept(engine, "numpy", {}) is engine
    wrapped = kept(engine, "numpy", {FOLDER_VARIABLE: str(tmp_path / "seen")})
    assert wrapped.name == "counting"
    assert list(wrapped.read(picture(0))) == []
    assert len(list((tmp_path / "seen").iterdir())) == 1
