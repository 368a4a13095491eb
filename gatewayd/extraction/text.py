"""Plain text, in the encoding that it seems to have; CSV, Markdown, JSON and XML are read as such."""

import codecs
from typing import BinaryIO, Final

import charset_normalizer

_BOMS: Final = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_SAMPLE: Final = 32 * 1024
_BYTES_OF_CHARACTER: Final = 4


def read_text(stream: BinaryIO, most: int) -> list[str]:
    """Its pages, which a form feed ends, up to `most` characters altogether."""
    stream.seek(0)
    text = decoded(stream.read(_BYTES_OF_CHARACTER * most))[:most]
    return text.replace("\r\n", "\n").replace("\0", "").split("\f")


def decoded(content: bytes, named: str | None = None) -> str:
    """Text of bytes. `named`: the encoding that somebody said it has, which may be wrong."""
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            return content.decode(encoding, errors="replace")
    for encoding in filter(None, ("utf-8", named, "cp1252")):
        try:
            text = codecs.decode(content, encoding)
        except (LookupError, ValueError, TypeError):
            continue
        if isinstance(text, str):
            return text
    if _is_cut_utf_8(content):
        return content.decode("utf-8", errors="ignore")
    best = charset_normalizer.from_bytes(content[:_SAMPLE]).best()
    return content.decode(best.encoding if best is not None else "latin-1", errors="replace")


def _is_cut_utf_8(content: bytes) -> bool:
    """Whether all but the last character is UTF-8."""
    try:
        content[: -_BYTES_OF_CHARACTER + 1].decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start >= len(content) - 2 * _BYTES_OF_CHARACTER
    return True
