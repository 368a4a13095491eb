"""Mail (eml): who wrote whom of what and when, the text, and the text of what is attached."""

import email.message
import email.parser
import email.policy
import io
from collections.abc import Callable, Iterator
from typing import BinaryIO, Final

from gatewayd.extraction.bounds import joined
from gatewayd.extraction.html import html_text
from gatewayd.extraction.shapes import ExtractionFailed
from gatewayd.extraction.text import decoded

ReadPart = Callable[[BinaryIO, str, str], list[str]]
"""Pages of an attachment, by its name and the type it says it has."""

_HEADERS: Final = ("From", "To", "Cc", "Subject", "Date")
_PARTS_MAX: Final = 200  # Chosen
_HEADER_CHARACTERS: Final = 2000


def read_mail(stream: BinaryIO, most: int, read_part: ReadPart) -> list[str]:
    """The message as one page, then the pages of its attachments, as far as they can be read."""
    stream.seek(0)
    message = email.parser.BytesParser(policy=email.policy.default).parse(stream)
    attached: list[str] = []
    first = joined(_pieces(message, attached, read_part, most), most)
    return [first, *attached]


def _pieces(message: email.message.EmailMessage, attached: list[str], read_part: ReadPart, most: int) -> Iterator[str]:
    yield from _headers(message)
    shown: list[email.message.MIMEPart] = []
    yield from _body_of(message, shown, most)
    for number, part in enumerate(message.walk()):
        if number > _PARTS_MAX:
            break
        if number and part.get_content_type() == "message/rfc822":
            yield from _forwarded(part, shown, most)
        if any(part is each for each in shown) or part.is_multipart():
            continue
        if part.get_content_disposition() is None and not part.get_filename():
            continue
        name = part.get_filename() or ""
        yield f"\nAttachment: {name}\n"
        attached += _attached(part, name, read_part)


def _forwarded(part: email.message.Message, shown: list[email.message.MIMEPart], most: int) -> Iterator[str]:
    """A mail in a mail: who wrote it, and its text. What is attached to it is among the parts of the outer one."""
    payload = part.get_payload()
    inner = payload[0] if isinstance(payload, list) and payload else None
    if isinstance(inner, email.message.EmailMessage):
        yield "\nForwarded message\n"
        yield from _headers(inner)
        yield from _body_of(inner, shown, most)


def _body_of(message: email.message.EmailMessage, shown: list[email.message.MIMEPart], most: int) -> Iterator[str]:
    body = message.get_body(("plain", "html"))
    if body is not None:
        shown.append(body)
        yield _text_of(body, most)


def _headers(message: email.message.EmailMessage) -> Iterator[str]:
    for name in _HEADERS:
        value = message.get(name)
        if value is not None:
            yield f"{name}: {str(value)[:_HEADER_CHARACTERS]}\n"
    yield "\n"


def _text_of(part: email.message.MIMEPart, most: int) -> str:
    content = part.get_payload(decode=True)
    text = decoded(content, part.get_content_charset()) if isinstance(content, bytes) else ""
    return f"{html_text(text, most) if part.get_content_subtype() == 'html' else text}\n"


def _attached(part: email.message.EmailMessage, name: str, read_part: ReadPart) -> list[str]:
    """The pages of an attachment; none where it cannot be read, as the message can all the same."""
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes):
        return []
    try:
        return read_part(io.BytesIO(content), name, part.get_content_type())
    except ExtractionFailed:
        return []
