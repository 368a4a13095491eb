"""Bills as they arrive: a layout of text set as a PDF, and the same as a scanner's picture of it."""

import io
import random
import re

import pypdfium2
import typst
from PIL import Image, ImageChops, ImageFilter

_COLUMN_MM, _LINE_MM, _TOP_MM, _LEFT_MM = 1.85, 4.9, 14, 14
_CELL = re.compile(r"\S+(?: \S+)*")
_AMOUNT = re.compile(r"-?[£$€]?-?[\d,]+[.,]\d\d(?: ?CR| EUR| USD)?")
_SIZES = {"# ": (15, "bold"), "## ": (11, "bold"), "": (8.5, "regular")}
_FONTS = (("DejaVu Sans", "Libertinus Serif"), ("DejaVu Sans Condensed", "Libertinus Serif"), ("Libertinus Serif",))
_DOTS_OF_INCH = 200


def pdf_of(text: str, seed: int) -> bytes:
    """The layout with each run of words where it stands; what looks like an amount ends where it ends."""
    fonts = _FONTS[seed % len(_FONTS)]
    placed = [f"#set page(width: 210mm, height: 297mm, margin: 0mm)\n#set text(font: {_strings(fonts)})\n"]
    for row, line in enumerate(text.split("\n")):
        for cell in _CELL.finditer(line):
            placed.append(_placed(cell.group(), cell.start(), cell.end(), row))
    return bytes(typst.compile("\n".join(placed).encode()))


def _placed(cell: str, start: int, end: int, row: int) -> str:
    mark = next(mark for mark in _SIZES if cell.startswith(mark))
    size, weight = _SIZES[mark]
    set_text = f'text(size: {size}pt, weight: "{weight}", {_string(cell.removeprefix(mark))})'
    down = _TOP_MM + row * _LINE_MM - (size - 8.5) * 0.2
    if start > 20 and _AMOUNT.fullmatch(cell):
        width = end * _COLUMN_MM + _LEFT_MM
        return f"#place(top + left, dy: {down}mm, box(width: {width}mm, align(right, {set_text})))"
    return f"#place(top + left, dx: {_LEFT_MM + start * _COLUMN_MM}mm, dy: {down}mm, box(width: auto, {set_text}))"


def _strings(values: tuple[str, ...]) -> str:
    return f"({', '.join(map(_string, values))},)"


def _string(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def scan_of(pdf: bytes, seed: int) -> bytes:
    """A JPEG of the first page as an office's scanner gives it: a little askew, soft, speckled, compressed."""
    chance = random.Random(seed)
    with pypdfium2.PdfDocument(pdf) as document:
        page: Image.Image = document[0].render(scale=_DOTS_OF_INCH / 72, grayscale=True).to_pil()
    askew = page.rotate(chance.uniform(-0.9, 0.9), resample=Image.Resampling.BICUBIC, fillcolor=255)
    soft = askew.filter(ImageFilter.GaussianBlur(chance.uniform(0.4, 0.9)))
    noise = Image.frombytes("L", soft.size, chance.randbytes(soft.width * soft.height)).point(lambda v: v // 9)
    dull = soft.point(lambda v: 30 + v * 205 // 255)
    body = io.BytesIO()
    ImageChops.subtract(dull, noise).save(body, "JPEG", quality=chance.randint(45, 70), dpi=(200, 200))
    return body.getvalue()
