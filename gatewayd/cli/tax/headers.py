"""`gatewayd tax check-headers`: what this instance, and the authority's test service, say of a request's headers."""

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.output import print_result
from gatewayd.cli.parser import Subparsers, add_command

if TYPE_CHECKING:
    from gatewayd.http1.header_fields import Header
    from gatewayd.http1.response import Response
    from gatewayd.tax.settings import TaxSettings

FILE_BYTES_MAX: Final = 65_536  # Chosen: twice what the server takes
_REQUEST_LINE: Final = re.compile(r"[A-Z]+ \S+ HTTP/[0-9.]+")
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110 §5.6.2


def add_check(group: Subparsers) -> None:
    """Add the command."""
    command = add_command(group, "check-headers", "judge the fraud-prevention headers of a request", check, json=True)
    command.add_argument("file", metavar="FILE", help="lines `Name: value`, as a request has them; - for input")


def check(arguments: argparse.Namespace, context: Context) -> int:
    """Exit code 1 where the request would be refused, here or there."""
    from dataclasses import replace

    from gatewayd.tax.authority.headers import texts
    from gatewayd.tax.settings import settings_from

    fields = _fields(_headers_text(arguments.file))
    settings = settings_from(context.config.tax)
    verdict = replace(settings, fraud_headers="require").judge(texts(fields))
    asks_authority = settings.mode == "hmrc" and settings.is_sandbox
    authority = _ask(settings, fields) if asks_authority else None
    document = {
        "valid": not verdict.faults,
        "faults": verdict.faults,
        "warnings": verdict.warnings,
        "authority": authority,
    }
    lines = ["The headers are valid." if not verdict.faults else "The headers are not valid."]
    lines += [f"{each.header} {each.message}." for each in verdict.faults]
    lines += [f"Warning: {each.header} {each.message}." for each in verdict.warnings]
    if settings.mode == "hmrc":
        lines += _answer_lines(authority)
    print_result(arguments, document, lines)
    refused = authority is not None and authority.get("code") == "INVALID_HEADERS"
    return 1 if verdict.faults or refused else 0


def header_lines(path: str) -> "list[Header]":
    """The header fields in a file of lines `Name: value`, names in lower case. Raises `CommandError`."""
    return [(name.lower(), value) for name, value in _fields(_headers_text(path))]


def _answer_lines(authority: dict[str, object] | None) -> list[str]:
    """The authority's words; None: it was not asked."""
    if authority is None:
        return ["The authority judges headers in its test service alone."]
    lines = [f"The authority: {authority.get('code')}: {authority.get('message')}."]
    for kind in ("errors", "warnings"):
        notes = authority.get(kind)
        for note in notes if isinstance(notes, list) else []:
            if isinstance(note, dict):
                about = note.get("headers")
                names = ", ".join(map(str, about)) if isinstance(about, list) else ""
                lines.append(f"The authority: {names}: {note.get('code')}: {note.get('message')}")
    return lines


def _ask(settings: "TaxSettings", fields: "list[Header]") -> dict[str, object]:
    import trio

    import gatewayd
    from gatewayd.errors import Problem
    from gatewayd.tax import engine

    if not settings.client_id:
        raise CommandError("set tax.client_id and its secret: the authority's test service wants to know who asks", 2)
    try:
        response = trio.run(engine.validate_headers, settings, fields, f"gatewayd/{gatewayd.__version__}")
    except Problem as problem:
        raise CommandError(f"the authority's test service did not judge the headers: {problem.message}") from None
    return _document(response)


def _document(response: "Response") -> dict[str, object]:
    import msgspec

    try:
        document = msgspec.json.decode(response.body, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        document = {}
    if response.status != 200 or not document:
        raise CommandError(
            f"the authority's test service answered {response.status} {document.get('code') or ''}".rstrip()
        )
    return document


def _headers_text(path: str) -> str:
    """Raises `CommandError`."""
    try:
        data = sys.stdin.buffer.read(FILE_BYTES_MAX + 1) if path == "-" else _first_bytes(Path(path))
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}") from None
    if len(data) > FILE_BYTES_MAX:
        raise CommandError(f"{path} is longer than {FILE_BYTES_MAX} bytes: no request has so many headers")
    return data.decode("latin-1")


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(FILE_BYTES_MAX + 1)


def _fields(text: str) -> "list[Header]":
    """The header fields of a request's head. Raises `CommandError`."""
    fields = []
    for number, line in enumerate(text.lstrip("\r\n").split("\n"), 1):
        line = line.rstrip("\r")
        if not line:
            break
        if number == 1 and _REQUEST_LINE.fullmatch(line):
            continue
        name, colon, value = line.partition(":")
        if not colon or not _NAME.fullmatch(name):
            raise CommandError(f"line {number} is no header: write `Name: value`")
        fields.append((name.encode("latin-1"), value.strip(" \t").encode("latin-1")))
    return fields
