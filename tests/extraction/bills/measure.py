"""How well bills are read, field by field: `python -m tests.extraction.bills.measure [words|scans] [NAME]`.

The layouts of `layouts/` were there when rules were made; no rule was made for those of `layouts/held_out/`.
"""

import io
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from gatewayd.extraction.bounds import Bounds
from gatewayd.extraction.facts import find_facts
from gatewayd.extraction.reading import Reading
from gatewayd.extraction.recognition import Recognition, find_program, start_companion
from tests.extraction.bills.drawing import pdf_of, scan_of
from tests.extraction.facts.quality import TODAY

FOLDER = Path(__file__).parent / "layouts"
FIELDS = ("total", "net", "vat", "currency", "date", "dueDate", "counterparty", "vatNumber", "reference")


class Bill(NamedTuple):
    """A layout and its truth: None where the bill has none of it. A field that is left out is not asked."""

    name: str
    text: str
    truth: dict[str, str | None]

    @property
    def seed(self) -> int:
        return zlib.crc32(self.name.encode())


class Answer(NamedTuple):
    """What was found of a field, and what is true."""

    bill: str
    field: str
    true: str | None
    found: str | None

    @property
    def is_right(self) -> bool:
        if self.field == "counterparty" and self.true and self.found:
            return re.findall(r"\w+", self.true.lower()) == re.findall(r"\w+", self.found.lower())
        return self.true == self.found


def bills(folder: Path) -> list[Bill]:
    """The layouts of a folder."""
    return [_bill(path) for path in sorted(folder.glob("*.txt"))]


def _bill(path: Path) -> Bill:
    head, _, text = path.read_text(encoding="utf-8").partition("---\n")
    told = dict(line.split(": ", 1) for line in head.splitlines())
    return Bill(
        path.stem, text, {field: None if told[field] == "-" else told[field] for field in FIELDS if field in told}
    )


def answers(bill: Bill, pages: list[str]) -> Iterator[Answer]:
    """What is found in the text of a bill, beside what is true."""
    facts = msgspec.to_builtins(find_facts(pages, "scan.pdf", TODAY))
    found = {re.sub(r"_(\w)", lambda match: match[1].upper(), name): value for name, value in facts.items()}
    for field, true in bill.truth.items():
        yield Answer(bill.name, field, true, found.get(field))


def words_of(bill: Bill) -> list[str]:
    """The text of the bill's PDF."""
    return _read(pdf_of(bill.text, bill.seed), "application/pdf", Recognition(None, 0))


def scanned(bill: Bill) -> list[str]:
    """What is recognised in a scan of it. Needs tesseract."""
    program = find_program()
    assert program is not None, "tesseract"
    scan = scan_of(pdf_of(bill.text, bill.seed), bill.seed)
    with start_companion(program, ("eng",)) as companion:
        return _read(scan, "image/jpeg", Recognition(companion, 300.0))


def _read(body: bytes, mime_type: str, recognition: Recognition) -> list[str]:
    return Reading(Bounds(), recognition).read(io.BytesIO(body), "", mime_type).rows


def table(found: Iterable[Answer]) -> str:
    """How many of each field are right, wrong and missed."""
    listed = list(found)
    lines = [f"{'field':<14}{'right':>7}{'wrong':>7}{'missed':>8}"]
    for field in FIELDS:
        of_field = [answer for answer in listed if answer.field == field]
        right = sum(answer.is_right for answer in of_field)
        missed = sum(not answer.is_right and answer.found is None for answer in of_field)
        lines.append(f"{field:<14}{right:>3}/{len(of_field):<3}{len(of_field) - right - missed:>7}{missed:>8}")
    return "\n".join(lines)


def main(medium: str = "words", name: str = "") -> None:
    """Print the tables, and each mistake. With the name of a bill its text too."""
    read = words_of if medium == "words" else scanned
    for folder in (FOLDER, FOLDER / "held_out"):
        found: list[Answer] = []
        for bill in bills(folder):
            if name in bill.name:
                rows = read(bill)
                found += answers(bill, rows)
                print("\n".join(rows) if name else "", end="")
        print(f"\n{medium}, {folder.name}\n{table(found)}")
        print("\n".join(f"{a.bill}: {a.field} {a.found} for {a.true}" for a in found if not a.is_right))


if __name__ == "__main__":
    main(*sys.argv[1:])
