"""Labelled pages for an orientation classifier: pages of text and of PDF files, each turned by 0, 90, 180, 270 degrees.

The text of a page comes from files of this machine (documentation, licences, Python sources, translated messages), set
in one of its fonts, size, columns and margins at random; a part of the pages is small, noisy, skewed or cut from the
middle of a page, as photographs of documents are. The input is prepared as the model's own package does it: the short
side resized to 256, the middle 224 x 224 taken, means and deviations of ImageNet, BGR.
"""

from __future__ import annotations

import gettext
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args

import cv2
import numpy as np
import pypdfium2
from PIL import Image, ImageDraw, ImageFont

Part = Literal["calibration", "evaluation"]
PARTS = get_args(Part)
SIDE = 224
MEAN = np.array([0.485, 0.456, 0.406], np.float32)
DEVIATION = np.array([0.229, 0.224, 0.225], np.float32)
FONTS = Path("/usr/share/fonts")
TEXTS = (
    "/usr/share/common-licenses/*",
    "/usr/lib/python3*/*.py",
    "/usr/share/perl/5*/pod/*.pod",
    "/usr/share/doc/*/*.txt",
)
CHINESE = "/usr/share/locale/zh_CN/LC_MESSAGES/*.mo"
NOT_LATIN = ("CJK", "Math")


def crops(documents: Path | None, pages: int, part: Part, seed: int) -> Iterator[tuple[np.ndarray, int]]:
    """Crops [3, 224, 224] of uint8 (BGR, not yet normalised) with their label 0..3, four of each page.

    Args:
        documents: A folder of PDF files; every other page is from there while it has pages.
        pages: How many pages.
        part: Which sources are taken: no document and no text file is in both parts.
        seed: Of everything random.
    """
    generator = np.random.default_rng((seed, PARTS.index(part)))
    printed = _printed(documents, part, generator) if documents is not None else iter(())
    written = _written(part, generator)
    for index in range(pages):
        page = next(printed, None) if index % 2 else None
        page = next(written) if page is None else page
        image = _photographed(page, generator)
        for label in range(4):
            # turned clockwise by the label's degrees: the model answers by how much a page is turned
            yield _cropped(np.rot90(image, -label)), label


def is_in(part: Part, name: str) -> bool:
    """Whether a source belongs to the part: one in four is for calibration, by the digest of its name."""
    is_first = hashlib.sha256(name.encode()).digest()[0] % 4 == 0
    return is_first == (part == "calibration")


def normalised(crop: np.ndarray) -> np.ndarray:
    """The model's input [1, 3, 224, 224] of one crop."""
    scaled = crop.astype(np.float32) / 255.0
    return ((scaled - MEAN[:, None, None]) / DEVIATION[:, None, None])[None].astype(np.float32)


def _cropped(image: np.ndarray) -> np.ndarray:
    share = 256 / min(image.shape[:2])
    size = round(image.shape[1] * share), round(image.shape[0] * share)
    resized = cv2.resize(np.ascontiguousarray(image), size, interpolation=cv2.INTER_LANCZOS4)
    top, left = (resized.shape[0] - SIDE) // 2, (resized.shape[1] - SIDE) // 2
    return np.ascontiguousarray(resized[top : top + SIDE, left : left + SIDE].transpose(2, 0, 1))


def _photographed(page: Image.Image, generator: np.random.Generator) -> np.ndarray:
    """The page or a part of it, skewed by up to three degrees, with uneven light and noise, as [height, width, BGR]."""
    page = page.convert("RGB")
    if generator.random() < 0.5:
        share = generator.uniform(0.3, 0.9)
        width, height = int(page.width * share), int(page.height * share)
        left, top = generator.integers(0, page.width - width + 1), generator.integers(0, page.height - height + 1)
        page = page.crop((int(left), int(top), int(left) + width, int(top) + height))
    page = page.rotate(float(generator.normal(0, 1.5)), Image.Resampling.BICUBIC, fillcolor="white")
    image = np.asarray(page, np.float32)[..., ::-1]
    light = 1 - generator.uniform(0, 0.5) * np.linspace(0, 1, image.shape[1], dtype=np.float32)[None, :, None]
    noisy = image * light + generator.normal(0, generator.uniform(0, 25), image.shape).astype(np.float32)
    return np.clip(noisy, 0, 255).astype(np.uint8)


def _printed(documents: Path, part: Part, generator: np.random.Generator) -> Iterator[Image.Image]:
    """Pages of PDF files, in a random order."""
    places = []
    for path in (path for path in sorted(documents.glob("*.pdf")) if is_in(part, path.name)):
        places += [(path, number) for number in range(len(pypdfium2.PdfDocument(path)))]
    for index in generator.permutation(len(places)):
        path, number = places[index]
        image = pypdfium2.PdfDocument(path)[number].render(scale=float(generator.uniform(0.7, 1.6))).to_pil()
        if np.asarray(image.convert("L"), np.float32).std() > 15:  # a page that is not empty
            yield image


def _written(part: Part, generator: np.random.Generator) -> Iterator[Image.Image]:
    """Pages set from text files, without end."""
    fonts = sorted(path for path in FONTS.rglob("*") if path.suffix in (".ttf", ".otf", ".ttc"))
    latin = [font for font in fonts if not any(word in font.name for word in NOT_LATIN)]
    wide = [font for font in fonts if "CJK" in font.name]
    texts = [path for pattern in TEXTS for path in _matching(pattern, part) if path.is_file()]
    chinese = "".join(_messages(path) for path in _matching(CHINESE, part))
    while True:
        if wide and chinese and generator.random() < 0.25:
            start = int(generator.integers(0, max(1, len(chinese) - 6000)))
            yield _set(chinese[start : start + 6000], wide[generator.integers(len(wide))], generator)
            continue
        text = texts[generator.integers(len(texts))].read_text(errors="replace")
        start = int(generator.integers(0, max(1, len(text) - 6000)))
        yield _set(" ".join(text[start : start + 6000].split()), latin[generator.integers(len(latin))], generator)


def _matching(pattern: str, part: Part) -> list[Path]:
    return [path for path in sorted(Path("/").glob(pattern.lstrip("/"))) if is_in(part, str(path))]


def _messages(path: Path) -> str:
    with path.open("rb") as file:
        catalog = gettext.GNUTranslations(file)
    return " ".join(text for key, text in sorted(catalog._catalog.items(), key=str) if key and isinstance(text, str))


def _set(text: str, font_path: Path, generator: np.random.Generator) -> Image.Image:
    """A page of A4 proportions with a heading and one or two columns of text."""
    width = int(generator.integers(600, 1000))
    height = int(width * 1.414) if generator.random() < 0.8 else int(width * 0.7)
    page = Image.new("L", (width, height), int(generator.integers(220, 256)))
    draw, ink = ImageDraw.Draw(page), int(generator.integers(0, 90))
    size = int(generator.integers(11, 30))
    font, heading = _font(font_path, size), _font(font_path, int(size * 1.6))
    margin, columns = int(width * generator.uniform(0.04, 0.14)), int(generator.integers(1, 3))
    draw.text((margin, margin), text[: int(generator.integers(8, 30))], fill=ink, font=heading)
    column = (width - margin * (columns + 1)) // columns
    step, position = round(size * generator.uniform(1.15, 1.6)), 30
    for index in range(columns):
        left, top = margin + index * (column + margin), margin + 3 * size
        bottom = height - margin - int(generator.uniform(0, 0.4) * height)
        while top < bottom and position < len(text):
            line = _line(text, position, font, column)
            draw.text((left, top), line, fill=ink, font=font)
            position += max(len(line), 1)
            top += step * (2 if generator.random() < 0.06 else 1)
    return page


def _font(path: Path, size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(path, size, layout_engine=ImageFont.Layout.BASIC)


def _line(text: str, start: int, font: ImageFont.FreeTypeFont, width: int) -> str:
    """As much of the text as fits, to the last space where it has one."""
    count = max(1, int(width / max(font.getlength(text[start : start + 20] or "n") / 20, 1)))
    line = text[start : start + count]
    cut = line.rfind(" ")
    return line[: cut + 1] if cut > count // 2 else line
