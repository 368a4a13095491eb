"""Pictures: photographs and scans. What text stands in them is recognised; each is drawn as it is looked at."""

import io
from collections.abc import Iterator
from typing import BinaryIO, Final

from PIL import Image, ImageOps, UnidentifiedImageError

from gatewayd.extraction.bounds import PIXELS_MAX, Bounds
from gatewayd.extraction.recognition import Recognition
from gatewayd.extraction.shapes import ExtractionFailed, Picture

FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP", "TIFF", "BMP")
TALLEST: Final = 4  # times as high as it may be wide: what is longer is made narrower
_QUALITY: Final = 80


def prepare() -> None:
    """Load what decodes these formats: later no file can be opened any more."""
    Image.MAX_IMAGE_PIXELS = PIXELS_MAX
    Image.init()


def read_picture(stream: BinaryIO, bounds: Bounds, recognition: Recognition) -> list[str]:
    """A page for each picture of a TIFF; of what moves, the first. Raises `ExtractionFailed`: no_ocr too."""
    if not recognition.is_there:
        for _ in pages_of(stream, 1):
            raise ExtractionFailed(
                "no_ocr", "It is a picture, and no program that recognises text is there or allowed."
            )
    return [recognition.text(picture) for picture in pages_of(stream, bounds.pages)]


def draw_picture(stream: BinaryIO, page: int, width: int) -> Picture:
    """One page. Raises `ExtractionFailed`, unsupported for a page that is not there."""
    for number, picture in enumerate(pages_of(stream, page), 1):
        if number == page:
            return as_webp(picture, width)
    raise ExtractionFailed("unsupported", f"It has no page {page}.")


def as_webp(picture: Image.Image, width: int) -> Picture:
    """The picture, at most that wide and four times as high; a smaller one stays as it is."""
    shown = picture.convert("RGB")
    shown.thumbnail((width, TALLEST * width))
    body = io.BytesIO()
    shown.save(body, "WEBP", quality=_QUALITY)
    return Picture(body=body.getvalue(), width=shown.width, height=shown.height)


def pages_of(stream: BinaryIO, most: int) -> Iterator[Image.Image]:
    """The pictures in a file, upright, on white where they are transparent. Raises `ExtractionFailed`."""
    stream.seek(0)
    try:
        with Image.open(stream, formats=FORMATS) as image:
            is_stack = image.format == "TIFF"
            for number in range(min(getattr(image, "n_frames", 1), most) if is_stack else 1):
                image.seek(number)
                if image.width * image.height > PIXELS_MAX:
                    raise ExtractionFailed("too_large", "The picture has more pixels than are looked at.")
                yield _on_white(ImageOps.exif_transpose(image))
    except Image.DecompressionBombError as error:
        raise ExtractionFailed("too_large", "The picture has more pixels than are looked at.") from error
    except UnidentifiedImageError as error:
        raise ExtractionFailed("damaged", "The picture is cut off or damaged.") from error
    except (OSError, SyntaxError, ValueError, EOFError, IndexError) as error:
        raise ExtractionFailed("damaged", "The picture is cut off or damaged.") from error


def _on_white(image: Image.Image) -> Image.Image:
    if not image.has_transparency_data:
        return image.convert("L" if image.mode in ("1", "L", "I;16") else "RGB")
    shown = Image.new("RGBA", image.size, "white")
    shown.alpha_composite(image.convert("RGBA"))
    return shown.convert("RGB")
