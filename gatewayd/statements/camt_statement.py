"""What stands before the entries of a CAMT statement: account, period and balances."""

import contextlib
from xml.etree.ElementTree import Element

from gatewayd.money import CURRENCIES
from gatewayd.statements.camt_entries import amount_of, date_of, text_at
from gatewayd.statements.identifiers import identifiers
from gatewayd.statements.running import Tally
from gatewayd.statements.shapes import Closed, Format, Opened, Unreadable
from gatewayd.statements.text import cleaned

_OPENING, _CLOSING, _AVAILABLE = ("OPBD", "PRCD"), ("CLBD", "ITBD"), ("CLAV", "ITAV")


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
            self._currency = text_at(element, "Ccy") or self._currency
        elif name == "FrToDt":
            self._dates = _day(element, "FrDtTm", "FrDt"), _day(element, "ToDtTm", "ToDt")
        elif name == "Bal" and len(self._balances) < 64:
            self._balances.append((text_at(element, "Tp/CdOrPrtry/Cd") or "", element))

    def opened(self, statement: int) -> Opened:
        """The beginning of the statement. Raises `Unreadable` where it names no currency."""
        account = self._account if self._account is not None else Element("Acct")
        number = text_at(account, "Id/IBAN") or text_at(account, "Id/Othr/Id") or ""
        found = identifiers(number)
        servicer = "Svcr/FinInstnId"
        opening, day = self._balance(_OPENING)
        return Opened(
            statement=statement,
            format=self._format,
            account_name=_name(account, "Nm"),
            sort_code=found.sort_code,
            account_number=found.account_number,
            iban=found.iban,
            bic=text_at(account, f"{servicer}/BICFI") or text_at(account, f"{servicer}/BIC"),
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
            for found, element in self._balances:
                if found == kind:
                    with contextlib.suppress(ValueError):
                        return amount_of(element, self.currency), date_of(element, "Dt")
        return None, None


def _day(element: Element, *names: str) -> str | None:
    for name in names:
        text = text_at(element, name)
        if text:
            return text[:10]
    return None


def _name(element: Element, path: str) -> str | None:
    text = text_at(element, path)
    return cleaned(text) if text else None
