"""The child that reads one document: from its standard input, shut in, in frames to its standard output.

`main` is the template, which loads all that children need and becomes one of them for each request.
"""

import codecs
import datetime
import logging
import os
from collections.abc import Iterator
from typing import BinaryIO, Final

from msgspec import msgpack

from gatewayd import check_digits
from gatewayd.extraction import answers, einvoices, pictures
from gatewayd.extraction.bounds import Bounds
from gatewayd.extraction.facts import find_facts
from gatewayd.extraction.kinds import HEAD_BYTES, may_hold_pictures
from gatewayd.extraction.language import guess_language
from gatewayd.extraction.reading import Reading, draw
from gatewayd.extraction.recognition import Recognition, find_program, start_companion
from gatewayd.extraction.searchable import add_text
from gatewayd.extraction.shapes import ExtractionFailed, Page
from gatewayd.isolation import template
from gatewayd.isolation.confinement import Confinement, confine
from gatewayd.isolation.frames import framed

IDLE_SECONDS: Final = 300.0  # Chosen: the template ends when nothing was read for so long
PDF_BYTES_MAX: Final = 1 << 30  # of one with its text added
_TARGET: Final = 3  # the descriptor that is written to
_CODECS: Final = (
    *("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "ascii", "cp1252", "iso8859-15"),
    "cp437",  # of names in ZIP archives
)
_LANGUAGE_SAMPLE: Final = 20_000
_ENCODER: Final = msgpack.Encoder()


def main(layer: str) -> None:
    """Be the template until the daemon is gone. `layer` is not empty where bubblewrap started it."""
    logging.disable()  # parsers complain of what they can't read
    pictures.prepare()
    check_digits.load()
    for name in _CODECS:
        codecs.lookup(name)
    template.serve(work, IDLE_SECONDS, bubblewrap=bool(layer))


def work(request: bytes) -> None:
    """Be the child of a request."""
    order = answers.REQUESTS.decode(request)
    if not isinstance(
        order.task, answers.DrawPage
    ):  # somebody waits for a picture; all else takes what the machine can spare
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    recognition, ocr = _recognition(order), find_program()
    layers = confine(
        Confinement(
            memory_bytes=order.memory_bytes,
            cpu_seconds=order.cpu_seconds,
            file_bytes=PDF_BYTES_MAX if isinstance(order.task, answers.AddText) else 0,
        )
    )
    with open(0, "rb") as stream, open(1, "wb") as frames:
        for answer in _answers(order, stream, recognition, answers.Layers(layers=layers, ocr=ocr)):
            frames.write(framed(_ENCODER.encode(answer)))
            frames.flush()


def _recognition(order: answers.Request) -> Recognition:
    """What recognises text in pictures, started while that is still possible; only for a file that may need it."""
    if not order.ocr_languages or not isinstance(order.task, answers.ReadText | answers.AddText):
        return Recognition(None, 0)
    program = find_program()
    head = os.pread(0, HEAD_BYTES, 0)
    if program is None or not may_hold_pictures(head):
        return Recognition(None, 0)
    return Recognition(start_companion(program, order.ocr_languages), order.task.bounds.ocr_seconds)


def _answers(
    order: answers.Request, stream: BinaryIO, recognition: Recognition, layers: answers.Layers
) -> Iterator[answers.Answer]:
    """What the task comes to. This is the border to parsers of strangers' files: whatever they raise is an answer."""
    try:
        match order.task:
            case answers.ReadText():
                yield from _read_text(order.task, stream, recognition)
            case answers.DrawPage(mime_type=mime_type, page=page, width=width):
                picture = draw(stream, mime_type, page, width)
                yield answers.Drawn(body=picture.body, width=picture.width, height=picture.height)
            case answers.AddText(mime_type=mime_type, bounds=bounds):
                yield _add_text(stream, mime_type, bounds, recognition)
            case answers.TellLayers():
                yield layers
    except ExtractionFailed as error:
        yield answers.Failed.of(error)
    except MemoryError:
        yield answers.Failed(code="out_of_memory", message="Reading it takes more memory than it may have.")
    except RecursionError:
        yield answers.Failed(code="damaged", message="The document is nested deeper than any is.")
    except Exception as error:  # noqa: BLE001 - the parse border: of a parser that such a file was not foreseen by
        yield _parser_error(error)


def _parser_error(error: Exception) -> answers.Failed:
    """By its name alone: what it says may have text of the document."""
    return answers.Failed(code="damaged", message=f"The document is damaged ({type(error).__name__}).")


def _read_text(task: answers.ReadText, stream: BinaryIO, recognition: Recognition) -> Iterator[answers.Answer]:
    reading = Reading(task.bounds, recognition).read(stream, task.name, task.mime_type)
    pages, rows = _tellable(reading.pages), _tellable(reading.rows)
    for number, text in enumerate(pages, 1):
        yield answers.PageRead(Page(number=number, text=text))
    facts = find_facts(rows, task.name, datetime.date.fromisoformat(task.today))
    yield answers.Read(
        engine=reading.engine,
        page_count=reading.page_count,
        language=guess_language("\n".join(pages)[:_LANGUAGE_SAMPLE]),
        facts=facts if reading.einvoice is None else einvoices.facts_of(facts, reading.einvoice),
        is_cut=reading.is_cut,
    )


def _tellable(texts: list[str]) -> list[str]:
    """Without halves of characters, which no frame can tell."""
    return [text.encode("utf-8", "replace").decode() for text in texts]


def _add_text(stream: BinaryIO, mime_type: str, bounds: Bounds, recognition: Recognition) -> answers.Written:
    with open(_TARGET, "wb", closefd=False) as target:
        return answers.Written(pages=add_text(stream, mime_type, bounds, recognition, target))
