"""CAMT.053, .052 and .054 of ISO 20022, versions .02 to .08: statements, reports and notifications (Domain E).

Elements are dropped as soon as they have been read, so that memory does not grow with the file.
"""

import contextlib
from collections.abc import Iterator, Sequence
from typing import BinaryIO, NamedTuple, Self
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from gatewayd.money import CURRENCIES
from gatewayd.statements.amounts import parse_amount
from gatewayd.statements.dates import parse_iso_date
from gatewayd.statements.identifiers import identifiers
from gatewayd.statements.running import Tally
from gatewayd.statements.shapes import Closed, Format, Hints, Line, Opened, Part, Refused, Unreadable
from gatewayd.statements.text import cleaned
from gatewayd.statements.transaction_types import type_of_iso_code

_STATEMENTS: dict[str, Format] = {"Stmt": "camt053", "Rpt": "camt052", "Ntfctn": "camt054"}
_DETAILS_OF_ONE_ENTRY = 100_000
_OPENING, _CLOSING, _AVAILABLE = ("OPBD", "PRCD"), ("CLBD", "ITBD"), ("CLAV", "ITAV")
_NOTHING = frozenset({"NOTPROVIDED", "NOT PROVIDED", "NONREF", "NOREF", "N/A"})


def read_camt053(stream: BinaryIO, hints: Hints) -> Iterator[Part]:
    """The parts of a CAMT file. Raises `Unreadable` for what is no well-formed XML, or another message."""
    reader = _Reader(hints)
    for event, element in _events(stream):
        if event == "start":
            reader.begin(element)
        else:
            yield from reader.end(element)
    if reader.statements == 0:
        kinds = "statement (BkToCstmrStmt), account report (BkToCstmrAcctRpt) or notification (BkToCstmrDbtCdtNtfctn)"
        raise Unreadable(None, f"the file holds no {kinds}")


def _events(stream: BinaryIO) -> Iterator[tuple[str, Element]]:
    """The elements as they begin and end."""
    stream.seek(0)
    try:
        yield from iterparse(stream, events=("start", "end"), forbid_dtd=True)
    except ParseError as error:
        raise Unreadable(error.position[0], f"the file is no well-formed XML, or is cut off ({error.msg})") from error
    except DefusedXmlException as error:
        reason = "the file declares a document type or entities, which no bank's statement has"
        raise Unreadable(None, reason) from error
    except (LookupError, ValueError) as error:  # of several bytes a character, or of no codec that there is
        raise Unreadable(1, f"the file declares an encoding that cannot be read ({error})") from error


# -- elements


def _without_namespace(element: Element) -> str:
    """The element's name, from which its namespace is taken: that differs from version to version."""
    name = str(element.tag).rpartition("}")[2]
    element.tag = name
    return name


def _child_at(element: Element, path: str) -> Element | None:
    """The first element at a path of names."""
    current: Element | None = element
    for name in path.split("/"):
        if current is None:
            break
        current = current.find(name)
    return current


def _text_at(element: Element, path: str) -> str | None:
    """The text there without outer spaces; None where there is none."""
    child = _child_at(element, path)
    text = (child.text or "").strip() if child is not None else ""
    return text or None


def _texts_at(element: Element, path: str) -> list[str]:
    """The texts of all elements of the last name, within the first of those before it."""
    above, _, last = path.rpartition("/")
    parent = _child_at(element, above) if above else element
    if parent is None:
        return []
    texts = [(child.text or "").strip() for child in parent.findall(last)]
    return [text for text in texts if text]


def _date_of(element: Element, path: str) -> str | None:
    """A choice of date and instant: the day that is written."""
    text = _text_at(element, f"{path}/Dt") or _text_at(element, f"{path}/DtTm")
    return None if text is None else parse_iso_date(text[:10], text)


def _amount_of(element: Element, currency: str, direction: str | None = None) -> int:
    """`Amt` with its direction; `direction` where the element names none. Raises `ValueError` with a sentence."""
    amount = _child_at(element, "Amt")
    if amount is None or not (amount.text or "").strip():
        raise ValueError("it has no amount")
    named = amount.get("Ccy", currency)
    if named != currency:
        raise ValueError(f"its amount is in {named}")
    mark = _text_at(element, "CdtDbtInd") or direction
    if mark not in ("CRDT", "DBIT"):
        raise ValueError(f"its direction is {mark!r}, neither CRDT nor DBIT")
    minor = parse_amount(amount.text or "", currency)
    return minor if mark == "CRDT" else -minor


# -- entries, and the transactions within them


class TransactionDetails(NamedTuple):
    """What a `TxDtls` says; `amount` and `currency` as they stand there, unsigned."""

    amount: str | None
    currency: str | None
    direction: str | None
    references: dict[str, str]
    parties: dict[str, str]
    remittance: tuple[str, ...]
    creditor_reference: str | None
    additional: str | None
    code: str | None
    instructed: tuple[str, str] | None
    rate: str | None

    @classmethod
    def of(cls, element: Element) -> Self:
        """Those of the element, which is dropped afterwards."""
        amount = _child_at(element, "Amt")
        if amount is None:
            amount = _child_at(element, "AmtDtls/TxAmt/Amt")
        instructed = _child_at(element, "AmtDtls/InstdAmt/Amt")
        refs = _child_at(element, "Refs")
        rate = _text_at(element, "AmtDtls/InstdAmt/CcyXchg/XchgRate")
        return cls(
            amount=(amount.text or "").strip() if amount is not None else None,
            currency=amount.get("Ccy") if amount is not None else None,
            direction=_text_at(element, "CdtDbtInd"),
            references={ref.tag: (ref.text or "").strip() for ref in (refs if refs is not None else ())},
            parties=_parties(element),
            remittance=tuple(_texts_at(element, "RmtInf/Ustrd")),
            creditor_reference=_text_at(element, "RmtInf/Strd/CdtrRefInf/Ref"),
            additional=_text_at(element, "AddtlTxInf"),
            code=_bank_transaction_code(element),
            instructed=(instructed.text or "", instructed.get("Ccy", "")) if instructed is not None else None,
            rate=rate or _text_at(element, "AmtDtls/TxAmt/CcyXchg/XchgRate"),
        )

    def reference(self, *names: str) -> str | None:
        """The first of these references that says anything."""
        references = (self.references.get(name) for name in names)
        return next((text for text in references if text and text.upper() not in _NOTHING), None)


_NO_DETAILS = TransactionDetails(None, None, None, {}, {}, (), None, None, None, None, None)


def _parties(element: Element) -> dict[str, str]:
    """Name and account of debtor and creditor: since version .08 their names stand within `Pty`."""
    parties = {}
    for role in ("Dbtr", "Cdtr", "UltmtDbtr", "UltmtCdtr"):
        above = f"RltdPties/{role}"
        name = _text_at(element, f"{above}/Nm") or _text_at(element, f"{above}/Pty/Nm")
        if name:
            parties[role] = name
    for role in ("DbtrAcct", "CdtrAcct"):
        account = _text_at(element, f"RltdPties/{role}/Id/IBAN") or _text_at(element, f"RltdPties/{role}/Id/Othr/Id")
        if account:
            parties[role] = account
    return parties


def _bank_transaction_code(element: Element) -> str | None:
    """`PMNT-RCDT-ESCT`, or the bank's own code."""
    parts = [_text_at(element, f"BkTxCd/Domn/{path}") for path in ("Cd", "Fmly/Cd", "Fmly/SubFmlyCd")]
    code = "-".join(part for part in parts if part)
    return code or _text_at(element, "BkTxCd/Prtry/Cd")


class Entry(NamedTuple):
    """What an `Ntry` says: `amount` is signed, in minor units of `currency`."""

    amount: int
    currency: str
    pending: bool
    reversal: bool
    booking_date: str | None
    value_date: str | None
    bank_reference: str | None
    code: str | None
    additional: str | None
    details: Sequence[TransactionDetails]

    @classmethod
    def of(cls, element: Element, details: Sequence[TransactionDetails]) -> Self:
        """The entry of an element. Raises `ValueError` with a sentence for what cannot be taken as a transaction."""
        amount = _child_at(element, "Amt")
        currency = amount.get("Ccy", "") if amount is not None else ""
        if currency not in CURRENCIES:
            raise ValueError("it has no amount" if amount is None else f"{currency!r} is no currency")
        status = _text_at(element, "Sts/Cd") or _text_at(element, "Sts") or "BOOK"
        if status not in ("BOOK", "PDNG", "FUTR"):
            raise ValueError(f"its status is {status}: it is told for information, and moved nothing")
        value_date = _date_of(element, "ValDt")
        booking_date = _date_of(element, "BookgDt") or value_date
        if booking_date is None and status == "BOOK":
            raise ValueError("it has no date")
        return cls(
            amount=_amount_of(element, currency),
            currency=currency,
            pending=status != "BOOK",
            reversal=_text_at(element, "RvslInd") in ("true", "1"),
            booking_date=booking_date if status == "BOOK" else None,
            value_date=value_date,
            bank_reference=_text_at(element, "AcctSvcrRef"),
            code=_bank_transaction_code(element),
            additional=_text_at(element, "AddtlNtryInf"),
            details=details,
        )

    def lines(self, statement: int, ordinal: int) -> Iterator[Line]:
        """Its transactions where their amounts add up to its own, else the entry as one line."""
        amounts = self._detail_amounts()
        if len(self.details) > 1 and None not in amounts and sum(a for a in amounts if a is not None) == self.amount:
            for n, (details, amount) in enumerate(zip(self.details, amounts, strict=True), 1):
                if amount is not None:
                    yield self._line(statement, ordinal, details, amount, n)
        else:
            details = self.details[0] if len(self.details) == 1 else _NO_DETAILS
            yield self._line(statement, ordinal, details, self.amount, None)

    def _detail_amounts(self) -> list[int | None]:
        return [self._detail_amount(details) for details in self.details]

    def _detail_amount(self, details: TransactionDetails) -> int | None:
        if not details.amount or details.currency != self.currency:
            return None
        minor = parse_amount(details.amount, self.currency)
        return -minor if (details.direction or ("DBIT" if self.amount < 0 else "CRDT")) == "DBIT" else minor

    def _line(self, statement: int, ordinal: int, details: TransactionDetails, amount: int, part: int | None) -> Line:
        code = details.code or self.code
        # The roles are those of the payment that a reversal takes back.
        role = "Dbtr" if (amount >= 0) is not self.reversal else "Cdtr"
        name = details.parties.get(role) or details.parties.get(f"Ultmt{role}")
        raw = "\n".join(t for t in (*details.remittance, details.additional, self.additional) if t)
        original = self._original(details, amount)
        return Line(
            statement=statement,
            line=ordinal,
            booking_date=self.booking_date,
            value_date=self.value_date,
            status="pending" if self.pending else "booked",
            amount=amount,
            currency=self.currency,
            description=cleaned(" ".join(t for t in (name, raw) if t)),
            raw_description=raw,
            type=type_of_iso_code(code or ""),
            counterparty_name=cleaned(name) if name else None,
            counterparty_account=details.parties.get(f"{role}Acct"),
            reference=details.creditor_reference or cleaned(" ".join(details.remittance)) or None,
            end_to_end_id=details.reference("EndToEndId"),
            bank_reference=self._reference(details, part),
            bank_transaction_code=code,
            original_amount=original[0] if original else None,
            original_currency=original[1] if original else None,
            fx_rate=details.rate,
        )

    def _reference(self, details: TransactionDetails, part: int | None) -> str | None:
        """The bank's id; of one among several that share the entry's, with its place, so that each has its own."""
        own = details.reference("AcctSvcrRef")
        if part is None:
            return self.bank_reference or own
        if own is not None and own != self.bank_reference:
            return own
        return f"{self.bank_reference}/{part}" if self.bank_reference else None

    def _original(self, details: TransactionDetails, amount: int) -> tuple[int, str] | None:
        if details.instructed is None or details.instructed[1] in ("", self.currency):
            return None
        text, currency = details.instructed
        if currency not in CURRENCIES:
            return None
        minor = parse_amount(text, currency)
        return (minor if amount >= 0 else -minor), currency


# -- what stands before the entries


class StatementHeader:
    """Account, period and balances, as they come. `currency`: of a statement that names none."""

    def __init__(self, format_: Format, currency: str | None) -> None:
        self._format = format_
        self._hint = currency
        self._currency: str | None = None
        self._account: Element | None = None
        self._dates: tuple[str | None, str | None] = (None, None)
        self._balances: list[tuple[str, Element]] = []

    def take(self, element: Element) -> None:
        """One element of the statement that is no entry."""
        name = element.tag
        if name == "Acct":
            self._account = element
            self._currency = _text_at(element, "Ccy") or self._currency
        elif name == "FrToDt":
            self._dates = _day(element, "FrDtTm", "FrDt"), _day(element, "ToDtTm", "ToDt")
        elif name == "Bal" and len(self._balances) < 64:
            self._balances.append((_text_at(element, "Tp/CdOrPrtry/Cd") or "", element))

    def opened(self, statement: int) -> Opened:
        """The beginning of the statement. Raises `Unreadable` where it names no currency."""
        account = self._account if self._account is not None else Element("Acct")
        number = _text_at(account, "Id/IBAN") or _text_at(account, "Id/Othr/Id") or ""
        identified = identifiers(number)
        servicer = "Svcr/FinInstnId"
        opening, day = self._balance(_OPENING)
        return Opened(
            statement=statement,
            format=self._format,
            account_name=_name(account, "Nm"),
            sort_code=identified.sort_code,
            account_number=identified.account_number,
            iban=identified.iban,
            bic=_text_at(account, f"{servicer}/BICFI") or _text_at(account, f"{servicer}/BIC"),
            currency=self.currency,
            holder=_name(account, "Ownr/Nm"),
            bank_name=_name(account, f"{servicer}/Nm"),
            from_date=self._dates[0],
            to_date=self._dates[1],
            opening_balance=opening,
            opening_date=day,
        )

    def closed(self, tally: Tally) -> Closed:
        """The end of the statement."""
        closing, day = self._balance(_CLOSING)
        return tally.closed(
            opening=self._balance(_OPENING)[0],
            closing=closing,
            closing_date=day,
            available=self._balance(_AVAILABLE)[0],
            dates=self._dates,
            is_interim=self._is_interim,
        )

    @property
    def _is_interim(self) -> bool:
        """Chosen: a report with a booked closing balance is of a whole day, as a statement is."""
        return self._format != "camt053" and self._balance(("CLBD", "CLBD"))[0] is None

    @property
    def currency(self) -> str:
        """The currency of the account. Raises `Unreadable` where nothing names one."""
        named = self._currency
        for _, balance in self._balances:
            amount = balance.find("Amt")
            named = named or (amount.get("Ccy") if amount is not None else None)
        named = named or self._hint
        if named not in CURRENCIES:
            raise Unreadable(None, f"{named!r} is no currency" if named else "the statement names no currency")
        return named

    def _balance(self, kinds: tuple[str, str]) -> tuple[int | None, str | None]:
        """Amount and day of the balance of the first kind that the statement has in its currency."""
        for kind in kinds:
            for balance_kind, element in self._balances:
                if balance_kind == kind:
                    with contextlib.suppress(ValueError):
                        return _amount_of(element, self.currency), _date_of(element, "Dt")
        return None, None


def _day(element: Element, *names: str) -> str | None:
    for name in names:
        text = _text_at(element, name)
        if text:
            return text[:10]
    return None


def _name(element: Element, path: str) -> str | None:
    text = _text_at(element, path)
    return cleaned(text) if text else None


# -- the file


class _Reader:
    """Follows the elements of the file; `_path` are those that are open, the innermost last."""

    def __init__(self, hints: Hints) -> None:
        self.statements = 0
        self._hints = hints
        self._path: list[Element] = []
        self._header: StatementHeader | None = None
        self._tally: Tally | None = None
        self._details: list[TransactionDetails] = []
        self._entries = 0

    def begin(self, element: Element) -> None:
        name = _without_namespace(element)
        self._path.append(element)
        if len(self._path) > 64:
            raise Unreadable(None, "elements stand deeper within each other than any statement has them")
        if name in _STATEMENTS and len(self._path) == 3:
            self._header, self._tally = StatementHeader(_STATEMENTS[name], self._hints.currency), None
        elif name == "Ntry":
            self._details = []

    def end(self, element: Element) -> Iterator[Part]:
        self._path.pop()
        name, depth = element.tag, len(self._path)
        header = self._header
        if header is None:
            return
        if name == "TxDtls":
            self._keep_details(element)
        elif name in _STATEMENTS and depth == 2:
            yield from self._closed(header)
        elif depth == 3 and name == "Ntry":
            yield from self._opened(header)
            yield from self._entry_lines(element)
        elif depth == 3:
            header.take(element)
        else:
            return
        if self._path:
            self._path[-1].remove(element)

    def _keep_details(self, element: Element) -> None:
        if len(self._details) >= _DETAILS_OF_ONE_ENTRY:
            raise Unreadable(None, f"entry {self._entries + 1} has more than {_DETAILS_OF_ONE_ENTRY} transactions")
        self._details.append(TransactionDetails.of(element))

    def _opened(self, header: StatementHeader) -> Iterator[Part]:
        if self._tally is None:
            opened = header.opened(self.statements)
            self._tally = Tally(self.statements, opened.currency or "")
            self.statements += 1
            yield opened

    def _entry_lines(self, element: Element) -> Iterator[Part]:
        """One line for each transaction of the entry where their amounts add up to its own, else one."""
        self._entries += 1
        tally = self._tally
        assert tally is not None  # the statement was opened before its first entry
        try:
            entry = Entry.of(element, self._details)
            for line in entry.lines(tally.statement, self._entries):
                yield tally.add(line)
        except ValueError as error:
            yield Refused(line=self._entries, reason=str(error), statement=tally.statement)

    def _closed(self, header: StatementHeader) -> Iterator[Part]:
        yield from self._opened(header)
        assert self._tally is not None
        yield header.closed(self._tally)
        self._header = self._tally = None
