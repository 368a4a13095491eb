"""Statement files of each format, row by row, and what may befall them; how many rows are left is known throughout."""

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from hypothesis import strategies as st

from gatewayd.statements.csv.plan import Profile, bank_profiles
from gatewayd.statements.shapes import Format, Mapping
from tests.statements.rows import ROWS, SOME, Row


class Record(NamedTuple):
    """One row of a file: its values, by what stands before and behind each. `lines`: each value is on its own line."""

    values: tuple[tuple[str, str, str], ...]
    date: int  # which value is its date
    head: str = ""
    tail: str = ""

    @property
    def text(self) -> str:
        return self.head + "".join(before + value + behind for before, value, behind in self.values) + self.tail

    def with_value(self, at: int, value: str) -> "Record":
        before, _, behind = self.values[at]
        return self._replace(values=(*self.values[:at], (before, value, behind), *self.values[at + 1 :]))

    def without(self, at: int) -> "Record":
        """Without the line of a value."""
        return self._replace(values=(*self.values[:at], *self.values[at + 1 :]), date=-1)


class Writer(NamedTuple):
    """A format: how a row is written, what stands around all rows, and whether a value is a line of its own."""

    name: str
    write: Callable[[int, Row], Record]
    head: str
    tail: str
    format: Format | None = None
    mapping: Mapping | None = None
    has_lines: bool = True
    forbidden: str = "\n\r<>&"  # characters that would be structure and no value
    loses: tuple[str, ...] = ()  # of `head` and `tail`: what a row can be without, and is still one


def _leaves(row: Row, at: int, *, closed: bool) -> Record:
    found = [
        ("TRNTYPE", "OTHER"),
        ("DTPOSTED", f"{row.day:%Y%m%d}"),
        ("TRNAMT", row.amount),
        ("FITID", f"F{at}"),
        ("NAME", row.plain),
    ]
    values = tuple((f"<{tag}>", text, f"</{tag}>\n" if closed else "\n") for tag, text in found)
    return Record(values, 1, "<STMTTRN>\n", "</STMTTRN>\n")


def _qif(at: int, row: Row) -> Record:
    found = (("D", f"{row.day:%d/%m/%Y}"), ("T", row.amount), ("P", row.plain))
    return Record(tuple((letter, text, "\n") for letter, text in found), 0, tail="^\n")


def _camt(at: int, row: Row) -> Record:
    direction = "DBIT" if row.pence < 0 else "CRDT"
    values = (
        ("<Amt Ccy='GBP'>", row.amount.removeprefix("-"), "</Amt>\n"),
        ("<CdtDbtInd>", direction, "</CdtDbtInd>\n"),
        ("<Sts>", "BOOK", "</Sts>\n"),
        ("<BookgDt><Dt>", row.day.isoformat(), "</Dt></BookgDt>\n"),
        ("<AddtlNtryInf>", row.plain, "</AddtlNtryInf>\n"),
    )
    return Record(values, 3, "<Ntry>\n", "</Ntry>\n")


def _swift(at: int, row: Row) -> Record:
    mark, amount = "D" if row.pence < 0 else "C", row.amount.removeprefix("-").replace(".", ",")
    values = (
        (":61:", f"{row.day:%y%m%d}", ""),
        ("", mark, ""),
        ("", amount, ""),
        ("", "NMSC", ""),
        ("", "NONREF", "\n"),
        (":86:", row.plain, "\n"),
    )
    return Record(values, 0)


def _camt_file(message: str, statement: str, entries_tail: str = "") -> tuple[str, str]:
    head = (
        f"<Document><{message}><{statement}><Acct><Id><IBAN>GB29NWBK60161331926819</IBAN></Id><Ccy>GBP</Ccy></Acct>\n"
    )
    return head, f"{entries_tail}</{statement}></{message}></Document>"


_OFX_HEAD = "<OFX><STMTRS><CURDEF>GBP</CURDEF><BANKTRANLIST>\n"
_OFX_TAIL = "</BANKTRANLIST></STMTRS></OFX>"
_MT940_HEAD = ":20:X\n:25:20450031926819\n:28C:1\n:60F:C200101GBP0,00\n"
_MT942_HEAD = ":20:X\n:25:20450031926819\n:28C:1\n:34F:GBP0,\n:13D:2601011200+0000\n"

_FORMATS = (
    Writer(
        "ofx1",
        lambda at, row: _leaves(row, at, closed=False),
        "OFXHEADER:100\nDATA:OFXSGML\n\n" + _OFX_HEAD,
        _OFX_TAIL,
        loses=("head", "tail"),
    ),
    Writer(
        "ofx2",
        lambda at, row: _leaves(row, at, closed=True),
        '<?xml version="1.0"?>\n' + _OFX_HEAD,
        _OFX_TAIL,
        loses=("head", "tail"),
    ),
    Writer("qif", _qif, "!Type:Bank\nD31/12/2019\nT0.00\nPOpening balance\n^\n", "", loses=("tail",)),
    Writer("camt053", _camt, *_camt_file("BkToCstmrStmt", "Stmt")),
    Writer("camt052", _camt, *_camt_file("BkToCstmrAcctRpt", "Rpt")),
    Writer("camt054", _camt, *_camt_file("BkToCstmrDbtCdtNtfctn", "Ntfctn")),
    Writer("mt940", _swift, _MT940_HEAD, ":62F:C301231GBP0,00\n-\n", has_lines=False, forbidden="\n\r"),
    Writer("mt942", _swift, _MT942_HEAD, ":90D:0GBP0,\n:90C:0GBP0,\n-\n", has_lines=False, forbidden="\n\r"),
)


def _cell(profile: Profile, heading: str, at: int, row: Row) -> str:
    """What a profile's row has in a column."""
    mapping = profile.mapping
    day = f"{row.day:%Y-%m-%d}" if mapping.date_format == "yyyy-mm-dd" else f"{row.day:%d/%m/%Y}"
    unsigned = row.amount.removeprefix("-")
    spent = row.pence < 0
    said: dict[object, str] = dict.fromkeys(mapping.description, row.plain)
    said |= {
        mapping.date: day,
        mapping.value_date: day,
        mapping.paid_in: "" if spent else unsigned,
        mapping.paid_out: unsigned if spent else "",
        mapping.amount: unsigned if mapping.direction is not None else row.amount,
        mapping.direction: "Debit" if spent else "Credit",
        mapping.currency: profile.currency,
        mapping.fee: "0.00",
        mapping.status: "COMPLETED",
        mapping.transaction_id: f"T{at}",
        mapping.sort_code: "20-45-00",
        mapping.account_number: "31926819",
        mapping.account_name: "Current",
    }
    return said.get(heading, "")


def _of_profile(profile: Profile) -> Writer:
    def write(at: int, row: Row) -> Record:
        cells = [_cell(profile, heading, at, row) for heading in profile.headings]
        values = tuple(('"', cell, '",') for cell in cells[:-1])
        return Record((*values, ('"', cells[-1], '"\n')), profile.headings.index(str(profile.mapping.date)))

    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerow(profile.headings)
    return Writer(f"csv:{profile.name}", write, stream.getvalue(), "", has_lines=False, forbidden="\n\r")


def _table(at: int, row: Row) -> Record:
    cells = (f"{row.day:%d/%m/%Y}", row.plain, row.amount)
    return Record((("", cells[0], ","), ("", cells[1], ","), ("", cells[2], "\n")), 0)


_MAPPING = Mapping(date="Date", description=("Details",), amount="Amount", date_format="dd/mm/yyyy")
WRITERS = (
    *_FORMATS,
    *(_of_profile(profile) for profile in bank_profiles() if not isinstance(profile.mapping.direction, int)),
    Writer("csv", _table, "Date,Details,Amount\n", "", mapping=_MAPPING, has_lines=False, forbidden="\n\r"),
)


@dataclass
class Mutilated:
    """A file, and how many rows it has: those that were written and are still there."""

    writer: Writer
    records: list[Record] = field(default_factory=list)
    done: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return self.writer.head + "".join(record.text for record in self.records) + self.writer.tail

    @property
    def rows(self) -> int:
        return sum(1 for record in self.records if self._is_row(record))

    def _is_row(self, record: Record) -> bool:
        """Whether anything is left of it. A row of a CSV is none where all of its cells are blank."""
        if self.writer.name.startswith("csv"):
            return any(value.strip() for _, value, _ in record.values)
        return bool(record.values) or bool(record.head)


HARMS = ("double", "drop", "blank", "date", "alter", "line", "long", "structure")


@st.composite
def mutilated(draw: st.DrawFn, writer: Writer) -> Mutilated:
    """A file with up to five harms done to its rows."""
    rows = draw(ROWS)
    found = Mutilated(writer, [writer.write(at, row) for at, row in enumerate(rows)])
    for _ in range(draw(st.integers(0, 5))):
        if not found.records:
            break
        _harm(draw, found)
    return found


def _harm(draw: st.DrawFn, file: Mutilated) -> None:
    at = draw(st.integers(0, len(file.records) - 1))
    record, kind = file.records[at], draw(st.sampled_from(HARMS))
    file.done.append(f"{kind} {at}")
    if kind == "double":
        file.records.insert(at, record)
    elif kind == "drop":
        del file.records[at]
    elif record.values:
        file.records[at] = _hurt(draw, file.writer, record, kind)


def _hurt(draw: st.DrawFn, writer: Writer, record: Record, kind: str) -> Record:
    place = draw(st.integers(0, len(record.values) - 1))
    value = record.values[place][1]
    is_whole = record.date >= 0 and bool(record.head) == bool(writer.write(0, SOME).head) and bool(record.tail)
    if kind == "structure" and writer.loses and is_whole:  # else nobody could tell what is left of it
        return record._replace(**{draw(st.sampled_from(writer.loses)): ""})
    if kind == "line" and writer.has_lines and (is_whole or not writer.loses or record.date < 0):
        return record.without(place)
    if kind == "date" and record.date >= 0:
        return record.with_value(record.date, draw(st.sampled_from(["32/13/2026", "yesterday", "20260231", "0000"])))
    if kind == "long":
        return record.with_value(place, value + "9" * 400)
    if kind == "alter" and value:
        spot = draw(st.integers(0, len(value) - 1))
        sign = draw(st.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_characters=writer.forbidden))
        return record.with_value(place, value[:spot] + sign + value[spot + 1 :])
    return record.with_value(place, "")
