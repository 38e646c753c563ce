"""Pictures of text lines, upright and upside down, as the text-direction classifier reads them."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw, ImageFont

HEIGHT, WIDTH = 48, 192
VOCABULARY = """
memory clock latency bandwidth cache sensor channel reset vector voltage camera align burst transfer scale weight bias
kernel tensor layer input output register address bank core unit power heat limit safe review approve sign build measure
page table value range must may 128 KB 0x4000 2.5 V 800 MHz 64 bytes 12 cycles
"""


def text_lines(count: int, seed: int) -> dict[str, np.ndarray]:
    """Seeded lines with known direction.

    Returns:
        `x`: [count, 1, 3, 48, 192] float32, grey levels as (v / 255 - 0.5) / 0.5, one batch of one per sample.
        `label`: [count] int64, 0 upright and 1 turned by 180 degrees.
    """
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, 2, count)
    return {"x": np.stack([_line(generator, bool(label)) for label in labels]), "label": labels.astype(np.int64)}


def _line(generator: np.random.Generator, upside_down: bool) -> np.ndarray:
    text = " ".join(generator.choice(VOCABULARY.split(), size=int(generator.integers(2, 5))))
    paper, ink = int(generator.integers(200, 256)), int(generator.integers(0, 90))
    font = ImageFont.load_default(size=int(generator.integers(24, 34)))
    left, top, right, bottom = font.getbbox(text)
    margin = int(generator.integers(3, 9))
    picture = Image.new("L", (int(right - left) + 2 * margin, int(bottom - top) + 2 * margin), paper)
    ImageDraw.Draw(picture).text((margin - left, margin - top), text, fill=ink, font=font)
    if upside_down:
        picture = picture.rotate(180)
    width = min(WIDTH, max(1, round(picture.width * HEIGHT / picture.height)))
    pixels = np.asarray(picture.resize((width, HEIGHT), Image.Resampling.BILINEAR), np.float32)
    pixels = pixels + generator.normal(0, 4, pixels.shape).astype(np.float32)
    line = np.zeros((1, 3, HEIGHT, WIDTH), np.float32)
    line[..., :width] = (np.clip(pixels, 0, 255) / 255 - 0.5) / 0.5
    return line
