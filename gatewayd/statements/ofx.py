"""OFX 1 and 2: statements of banks and cards (Domain E; decision 0018).

Elements of OFX 1 (SGML) and 2 (XML) are read alike and one by one.
"""

import html
import io
import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from gatewayd.money import CURRENCIES
from gatewayd.statements.amounts import has_decimal_comma, parse_amount
from gatewayd.statements.dates import parse_iso_date
from gatewayd.statements.identifiers import identifiers, masked_card
from gatewayd.statements.running import Tally
from gatewayd.statements.shapes import Hints, Limits, Line, Opened, Part, Refused, Unreadable
from gatewayd.statements.text import cleaned, encoding_of
from gatewayd.statements.transaction_types import OFX_TYPES

_CHUNK = 64 * 1024
_ELEMENT = re.compile(r"<(?P<tag>/?[A-Za-z][\w.]*)(?:\s[^<>]*)?/?>(?P<text>[^<]*(?:<(?![A-Za-z/!?])[^<]*)*)")
_LITERAL = re.compile(r"<!\[CDATA\[(?P<literal>.*?)\]\]>(?P<text>[^<]*(?:<(?![A-Za-z/!?])[^<]*)*)", re.DOTALL)
_SKIPPED = re.compile(r"<!--.*?-->[^<]*|<\?.*?\?>[^<]*", re.DOTALL)
_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|nbsp|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});")
_STATEMENTS = frozenset({"STMTRS", "CCSTMTRS"})
_TRANSACTIONS = frozenset({"STMTTRN", "STMTTRNP"})  # the second: pending ones of OFX 2.2
_AGGREGATES = frozenset(
    {"OFX", "BANKTRANLIST", "BANKTRANLISTP", "BANKACCTFROM", "CCACCTFROM", "LEDGERBAL", "AVAILBAL", "BAL", "FI"}
    | {"PAYEE", "BANKACCTTO", "CCACCTTO", "CURRENCY", "ORIGCURRENCY", "INVSTMTRS"}
    | _STATEMENTS
    | _TRANSACTIONS
)
_LISTS = frozenset({"BANKTRANLIST", "BANKTRANLISTP"})
_ONCE = frozenset({"TRNTYPE", "DTPOSTED", "TRNAMT", "FITID"})
_JOINED = "it runs together with another one (there is no </STMTTRN> between them)"
_DATE = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})(?:[^0-9].*|[0-9]{4,6}(?:[^0-9].*)?)?", re.DOTALL)


class Element(NamedTuple):
    """A tag in capitals, `/STMTTRN` where it ends one, and the text behind it without outer spaces."""

    tag: str
    text: str


def elements(stream: BinaryIO, encoding: str, limits: Limits) -> Iterator[Element]:
    """The elements of a file from `<OFX>` on. Raises `Unreadable` for what is cut off, or no such text."""
    stream.seek(0)
    text = io.TextIOWrapper(stream, encoding=encoding, newline=None)
    try:
        yield from _joined(_pieces(text, limits), limits)
    except UnicodeError as error:
        raise Unreadable(None, f"the file has characters that are none in {encoding}") from error
    finally:
        text.detach()


def _pieces(stream: io.TextIOWrapper, limits: Limits) -> Iterator[Element]:
    """Elements, and pieces of literal text as elements without a tag."""
    buffer = _head(stream)
    while True:
        chunk = _read_chunk(stream)
        buffer += chunk
        at = 0
        while (match := _next(buffer, at)) is not None and (match.end() < len(buffer) or not chunk):
            piece = _element(match)
            if piece is not None:
                yield piece
            at = match.end()
        buffer = buffer[at:]
        if not chunk:
            break
        if len(buffer) > limits.line_bytes + _CHUNK:
            raise _too_long(limits)
    if buffer:
        raise Unreadable(None, "the file ends within an element: is it cut off?")


def _read_chunk(stream: io.TextIOWrapper) -> str:
    chunk = stream.read(_CHUNK)
    if "\0" in chunk:
        raise Unreadable(None, "there is a NUL byte: the file is damaged, or is no text")
    return chunk


def _too_long(limits: Limits) -> Unreadable:
    return Unreadable(None, f"an element is longer than {limits.line_bytes} characters")


def _head(stream: io.TextIOWrapper) -> str:
    """The beginning, from `<OFX>` on: before it stand the headers of OFX 1, or the declarations of OFX 2."""
    head = _read_chunk(stream)
    if re.search(r"<!(DOCTYPE|ENTITY)", head, re.IGNORECASE):
        raise Unreadable(None, "the file declares a document type or entities, which no bank's statement has")
    start = re.search(r"<OFX(\s[^<>]*)?>", head, re.IGNORECASE)
    if start is None:
        raise Unreadable(None, "there is no <OFX> in the beginning of the file")
    return head[start.start() :]


def _next(buffer: str, at: int) -> re.Match[str] | None:
    match = _ELEMENT.match(buffer, at)
    if match is not None:
        return match
    if buffer.startswith("<!", at) and len(buffer) - at >= 9 and not buffer.startswith(("<!--", "<![CDATA["), at):
        raise Unreadable(None, "the file declares a document type or entities, which no bank's statement has")
    return _LITERAL.match(buffer, at) or _SKIPPED.match(buffer, at)


def _element(match: re.Match[str]) -> Element | None:
    parts = match.groupdict()
    if "tag" in parts:
        return Element(parts["tag"].upper(), _unescaped(parts["text"]))
    if "literal" in parts:
        return Element("", parts["literal"] + _unescaped(parts["text"]))
    return None


def _joined(pieces: Iterator[Element], limits: Limits) -> Iterator[Element]:
    """The elements, literal text joined to that before it."""
    last: Element | None = None
    for piece in pieces:
        if not piece.tag and last is not None:
            last = Element(last.tag, last.text + piece.text)
            if len(last.text) > limits.line_bytes:
                raise _too_long(limits)
            continue
        if last is not None:
            yield Element(last.tag, last.text.strip())
        last = piece
    if last is not None:
        yield Element(last.tag, last.text.strip())


def _unescaped(text: str) -> str:
    return _ENTITY.sub(lambda match: html.unescape(match[0]), text) if "&" in text else text


def read_ofx(stream: BinaryIO, hints: Hints) -> Iterator[Part]:
    """The parts of an OFX file. Raises `Unreadable` for what is cut off or holds no statement of a bank or card."""
    encoding = hints.mapping.encoding if hints.mapping is not None else None
    reader = _Reader(hints)
    for element in elements(stream, encoding or encoding_of(stream), hints.limits):
        yield from reader.take(element)
    reader.ended()


class _Reader:
    """Follows the elements: which aggregates are open, and what has been said in them.

    `_said` has the leaves of the statement that is open, `_transaction` those of the transaction, by aggregate and tag.
    """

    def __init__(self, hints: Hints) -> None:
        self._hints = hints
        self._open: list[str] = []
        self._said: dict[str, str] = {}
        self._transaction: dict[str, str] = {}
        self._bank: str | None = None
        self._tally: Tally | None = None
        self._currency = ""
        self._statements = 0
        self._ordinal = 0
        self._has_investments = False
        self._is_joined = False  # the transaction began where another one had no end
        self._orphaned: set[str] = set()  # leaves of a transaction that has no beginning

    def take(self, element: Element) -> Iterator[Part]:
        """What the element brings to an end or begins."""
        tag = element.tag
        if tag.startswith("/"):
            yield from self._close(tag[1:])
        elif tag in _AGGREGATES and not element.text:
            yield from self._begin(tag)
        elif element.text:
            yield from self._keep(tag, element.text)

    def ended(self) -> None:
        """Raises `Unreadable` where the file may not end."""
        if self._open:
            raise Unreadable(None, f"the file ends before </{self._open[-1]}>: is it cut off?")
        if not self._statements:
            what = "investments alone" if self._has_investments else "no statement of a bank or card account"
            raise Unreadable(None, f"the file holds {what}")

    def _begin(self, tag: str) -> Iterator[Part]:
        if tag in _STATEMENTS:
            self._said = {}
        elif tag == "INVSTMTRS":
            self._has_investments = True
        elif tag in _TRANSACTIONS:
            if self._open and self._open[-1] in _TRANSACTIONS:
                yield from self._close(self._open[-1])
            yield from self._stray()
            self._transaction, self._is_joined = {}, False
            if self._in_statement():
                yield from self._opened()
        self._open.append(tag)

    def _close(self, tag: str) -> Iterator[Part]:
        if tag in _TRANSACTIONS or tag in _LISTS:
            yield from self._stray()
        if tag not in self._open:
            return
        within = self._open[self._open.index(tag) + 1 :]
        if (unclosed := next((open_tag for open_tag in within if open_tag in _TRANSACTIONS), None)) is not None:
            yield from self._close(unclosed)
        while self._open.pop() != tag:
            pass
        if tag in _TRANSACTIONS and self._in_statement():
            self._ordinal += 1
            yield self._refused(_JOINED) if self._is_joined else self._line(pending=tag == "STMTTRNP")
        elif tag in _STATEMENTS:
            yield from self._opened()
            yield from self._closed()

    def _in_statement(self) -> bool:
        return not _STATEMENTS.isdisjoint(self._open) and "INVSTMTRS" not in self._open

    def _keep(self, tag: str, text: str) -> Iterator[Part]:
        """Keep a leaf. One that a transaction has once shows that another one begins there."""
        inner = self._open[-1] if self._open else ""
        if inner == "FI" and tag == "ORG":
            self._bank = cleaned(text)
        elif inner in _LISTS and tag in _ONCE and self._in_statement():
            if tag in self._orphaned:
                yield from self._stray()
            self._orphaned.add(tag)
        elif inner in _TRANSACTIONS and tag in _ONCE and tag in self._transaction and self._in_statement():
            self._ordinal += 1
            yield self._refused(_JOINED)
            self._transaction, self._is_joined = {tag: text}, True
        elif not _TRANSACTIONS.isdisjoint(self._open):
            self._transaction[tag if inner in _TRANSACTIONS else f"{inner}.{tag}"] = text
        else:
            self._said[tag if inner in _STATEMENTS else f"{inner}.{tag}"] = text

    def _stray(self) -> Iterator[Part]:
        """A transaction whose beginning is missing, where leaves of one stand outside of any."""
        if self._orphaned:
            self._orphaned = set()
            yield from self._opened()
            self._ordinal += 1
            yield self._refused("its beginning is missing (<STMTTRN>)")

    def _refused(self, reason: str) -> Refused:
        statement = self._tally.statement if self._tally is not None else None
        return Refused(line=self._ordinal, reason=reason, statement=statement)

    def _opened(self) -> Iterator[Part]:
        """The beginning of the statement, told when its first transaction or its end comes."""
        if self._tally is not None:
            return
        said = self._said
        currency = said.get("CURDEF", self._hints.currency or "").upper()
        if currency not in CURRENCIES:
            raise Unreadable(None, f"{currency!r} is no currency" if currency else "the statement names no currency")
        self._currency = currency
        self._tally = Tally(self._statements, currency)
        self._statements += 1
        account = identifiers(said.get("BANKACCTFROM.ACCTID", ""), said.get("BANKACCTFROM.BANKID", ""))
        card = said.get("CCACCTFROM.ACCTID")
        yield Opened(
            statement=self._tally.statement,
            format="ofx",
            sort_code=account.sort_code,
            account_number=masked_card(card) if card else account.account_number,
            iban=account.iban,
            bic=account.bic,
            currency=currency,
            bank_name=self._bank,
            from_date=_date_or_none(said.get("BANKTRANLIST.DTSTART")),
            to_date=_date_or_none(said.get("BANKTRANLIST.DTEND")),
        )

    def _closed(self) -> Iterator[Part]:
        if self._tally is None:
            return
        said = self._said
        yield self._tally.closed(
            closing=self._balance("LEDGERBAL.BALAMT"),
            closing_date=_date_or_none(said.get("LEDGERBAL.DTASOF")),
            available=self._balance("AVAILBAL.BALAMT"),
            dates=(
                _date_or_none(said.get("BANKTRANLIST.DTSTART")),
                _date_or_none(said.get("BANKTRANLIST.DTEND")),
            ),
        )
        self._tally = None

    def _balance(self, name: str) -> int | None:
        """A balance; None for one that cannot be read, as the lines don't depend on it."""
        text = self._said.get(name)
        try:
            return None if text is None else _amount(text, self._currency)
        except ValueError:
            return None

    def _line(self, *, pending: bool) -> Line | Refused:
        said, tally = self._transaction, self._tally
        try:
            if tally is None:
                raise ValueError("it stands in no list of transactions")
            return tally.add(self._transaction_line(said, tally.statement, pending=pending))
        except ValueError as error:
            return self._refused(str(error))

    def _transaction_line(self, said: dict[str, str], statement: int, *, pending: bool) -> Line:
        corrected = said.get("CORRECTFITID")
        if corrected is not None and (corrected != said.get("FITID") or said.get("CORRECTACTION") == "DELETE"):
            raise ValueError(f"it corrects the transaction {corrected}, which is to be done by hand")
        if "TRNAMT" not in said:
            raise ValueError("it has no amount")
        currency = said.get("CURRENCY.CURSYM", self._currency).upper()
        if currency not in CURRENCIES:
            raise ValueError(f"{currency!r} is no currency")
        raw = " ".join(said[tag] for tag in ("NAME", "EXTDNAME", "PAYEE.NAME", "MEMO") if said.get(tag))
        day = said.get("DTPOSTED") or said.get("DTTRAN")
        if day is None and not pending:
            raise ValueError("it has no date")
        return Line(
            statement=statement,
            line=self._ordinal,
            booking_date=None if pending or day is None else _date(day),
            value_date=_date_or_none(said.get("DTAVAIL")) or (_date_or_none(day) if pending else None),
            status="pending" if pending else "booked",
            amount=_amount(said["TRNAMT"], currency),
            currency=currency,
            description=cleaned(raw),
            raw_description=raw,
            type=OFX_TYPES.get(said.get("TRNTYPE", "").upper(), "other"),
            counterparty_name=cleaned(said["PAYEE.NAME"]) if "PAYEE.NAME" in said else None,
            counterparty_account=said.get("BANKACCTTO.ACCTID") or said.get("CCACCTTO.ACCTID"),
            reference=said.get("CHECKNUM"),
            bank_reference=said.get("REFNUM"),
            fit_id=said.get("FITID"),
            merchant_category_code=said.get("SIC"),
            original_currency=said.get("ORIGCURRENCY.CURSYM"),
            fx_rate=said.get("ORIGCURRENCY.CURRATE"),
        )


def _amount(text: str, currency: str) -> int:
    return parse_amount(text, currency, decimal_comma=has_decimal_comma(text))


def _date(text: str) -> str:
    """The day as the bank wrote it, whatever its zone: `20261122120000.000[-5:EST]`."""
    match = _DATE.fullmatch(text)
    day = f"{match[1]}-{match[2]}-{match[3]}" if match else ""
    return parse_iso_date(day, text)


def _date_or_none(text: str | None) -> str | None:
    """The same of a date that no line depends on."""
    try:
        return None if text is None else _date(text)
    except ValueError:
        return None
