"""Entries of a CAMT statement, and the transactions within them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self
from xml.etree.ElementTree import Element

from gatewayd.money import CURRENCIES
from gatewayd.statements.amounts import parse_amount
from gatewayd.statements.dates import parse_iso_date
from gatewayd.statements.shapes import Line
from gatewayd.statements.text import cleaned
from gatewayd.statements.transaction_types import type_of_iso_code

_NOTHING = frozenset({"NOTPROVIDED", "NOT PROVIDED", "NONREF", "NOREF", "N/A"})


def without_namespace(element: Element) -> str:
    """The element's name, from which its namespace is taken: that differs from version to version."""
    name = str(element.tag).rpartition("}")[2]
    element.tag = name
    return name


def child_at(element: Element, path: str) -> Element | None:
    """The first element at a path of names."""
    found: Element | None = element
    for name in path.split("/"):
        if found is None:
            break
        found = found.find(name)
    return found


def text_at(element: Element, path: str) -> str | None:
    """The text there without outer spaces; None where there is none."""
    found = child_at(element, path)
    text = (found.text or "").strip() if found is not None else ""
    return text or None


def texts_at(element: Element, path: str) -> list[str]:
    """The texts of all elements of the last name, within the first of those before it."""
    above, _, last = path.rpartition("/")
    parent = child_at(element, above) if above else element
    if parent is None:
        return []
    found = [(child.text or "").strip() for child in parent.findall(last)]
    return [text for text in found if text]


def date_of(element: Element, path: str) -> str | None:
    """A choice of date and instant: the day that is written."""
    text = text_at(element, f"{path}/Dt") or text_at(element, f"{path}/DtTm")
    return None if text is None else parse_iso_date(text[:10], text)


def amount_of(element: Element, currency: str, direction: str | None = None) -> int:
    """`Amt` with its direction; `direction` where the element names none. Raises `ValueError` with a sentence."""
    amount = child_at(element, "Amt")
    if amount is None or not (amount.text or "").strip():
        raise ValueError("it has no amount")
    named = amount.get("Ccy", currency)
    if named != currency:
        raise ValueError(f"its amount is in {named}")
    mark = text_at(element, "CdtDbtInd") or direction
    if mark not in ("CRDT", "DBIT"):
        raise ValueError(f"its direction is {mark!r}, neither CRDT nor DBIT")
    minor = parse_amount(amount.text or "", currency)
    return minor if mark == "CRDT" else -minor


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
        amount = child_at(element, "Amt")
        if amount is None:
            amount = child_at(element, "AmtDtls/TxAmt/Amt")
        instructed = child_at(element, "AmtDtls/InstdAmt/Amt")
        refs = child_at(element, "Refs")
        rate = text_at(element, "AmtDtls/InstdAmt/CcyXchg/XchgRate")
        return cls(
            amount=(amount.text or "").strip() if amount is not None else None,
            currency=amount.get("Ccy") if amount is not None else None,
            direction=text_at(element, "CdtDbtInd"),
            references={ref.tag: (ref.text or "").strip() for ref in (refs if refs is not None else ())},
            parties=_parties(element),
            remittance=tuple(texts_at(element, "RmtInf/Ustrd")),
            creditor_reference=text_at(element, "RmtInf/Strd/CdtrRefInf/Ref"),
            additional=text_at(element, "AddtlTxInf"),
            code=bank_transaction_code(element),
            instructed=(instructed.text or "", instructed.get("Ccy", "")) if instructed is not None else None,
            rate=rate or text_at(element, "AmtDtls/TxAmt/CcyXchg/XchgRate"),
        )

    def reference(self, *names: str) -> str | None:
        """The first of these references that says anything."""
        found = (self.references.get(name) for name in names)
        return next((text for text in found if text and text.upper() not in _NOTHING), None)


_NO_DETAILS = TransactionDetails(None, None, None, {}, {}, (), None, None, None, None, None)


def _parties(element: Element) -> dict[str, str]:
    """Name and account of debtor and creditor: since version .08 their names stand within `Pty`."""
    found = {}
    for role in ("Dbtr", "Cdtr", "UltmtDbtr", "UltmtCdtr"):
        above = f"RltdPties/{role}"
        name = text_at(element, f"{above}/Nm") or text_at(element, f"{above}/Pty/Nm")
        if name:
            found[role] = name
    for role in ("DbtrAcct", "CdtrAcct"):
        account = text_at(element, f"RltdPties/{role}/Id/IBAN") or text_at(element, f"RltdPties/{role}/Id/Othr/Id")
        if account:
            found[role] = account
    return found


def bank_transaction_code(element: Element) -> str | None:
    """`PMNT-RCDT-ESCT`, or the bank's own code."""
    parts = [text_at(element, f"BkTxCd/Domn/{path}") for path in ("Cd", "Fmly/Cd", "Fmly/SubFmlyCd")]
    code = "-".join(part for part in parts if part)
    return code or text_at(element, "BkTxCd/Prtry/Cd")


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
        amount = child_at(element, "Amt")
        currency = amount.get("Ccy", "") if amount is not None else ""
        if currency not in CURRENCIES:
            raise ValueError("it has no amount" if amount is None else f"{currency!r} is no currency")
        status = text_at(element, "Sts/Cd") or text_at(element, "Sts") or "BOOK"
        if status not in ("BOOK", "PDNG", "FUTR"):
            raise ValueError(f"its status is {status}: it is told for information, and moved nothing")
        value_date = date_of(element, "ValDt")
        booking_date = date_of(element, "BookgDt") or value_date
        if booking_date is None and status == "BOOK":
            raise ValueError("it has no date")
        return cls(
            amount=amount_of(element, currency),
            currency=currency,
            pending=status != "BOOK",
            reversal=text_at(element, "RvslInd") in ("true", "1"),
            booking_date=booking_date if status == "BOOK" else None,
            value_date=value_date,
            bank_reference=text_at(element, "AcctSvcrRef"),
            code=bank_transaction_code(element),
            additional=text_at(element, "AddtlNtryInf"),
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
