"""Documents and what is true of them: those of `documents/`, written by hand, and those that `generated` lays out.

A file has `field: value` lines, a line of three dashes, and the text. `skip` names fields that people may not agree on.
"""

from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "documents"
FIELDS = ("kind", "date", "total", "currency", "counterparty", "vatNumber", "reference")
OF_CERTIFICATES = (
    "type",
    "issuedDate",
    "expiryDate",
    "rating",
    "score",
    "result",
    "postcode",
    "address",
    "issuerRegistration",
)


class Document(NamedTuple):
    """A text, and for each field what is true of it; None: it has none, not there: it is not asked."""

    name: str
    text: str
    truth: dict[str, str | None]


def written() -> list[Document]:
    """The documents that were written by hand."""
    return [_read(path) for path in sorted(FOLDER.glob("*.txt"))]


def held_out() -> list[Document]:
    """Those of the same kinds that no rule was made for: what they miss stays missed."""
    return [_read(path) for path in sorted((FOLDER / "held_out").glob("*.txt"))]


def _read(path: Path) -> Document:
    head, _, text = path.read_text(encoding="utf-8").partition("---\n")
    told = dict(line.split(": ", 1) for line in head.splitlines())
    skipped = set(told.pop("skip", "").split())
    truth: dict[str, str | None] = {field: told.get(field) for field in FIELDS if field not in skipped}
    if told["kind"] == "certificate":
        names = [f"certificate.{field}" for field in OF_CERTIFICATES]
        asked_always = {"certificate.type", "certificate.issuedDate", "certificate.expiryDate", "certificate.result"}
        truth |= {name: told.get(name) for name in names if name in told or name in asked_always}
    return Document(path.stem, text, truth)
