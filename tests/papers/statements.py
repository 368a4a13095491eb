"""Statements of which a test changes what they are about."""

from msgspec.structs import replace

from gatewayd.papers.paper import Look
from gatewayd.papers.statement_paper import Account, AccountLine, StatementPaper
from tests.papers.samples import ACCOUNT, CLIENT, LEEDS, SELLER


def account(count: int = 3, currency: str = "GBP", **fields: object) -> Account:
    """An opening balance of 100.00, and so many invoices of 1234.50, each third paid in part."""
    lines, balance = [], 10000
    for number in range(1, count + 1):
        amount = -100000 if number % 3 == 0 else 123450
        balance += amount
        lines.append(
            AccountLine(
                date=f"2026-10-{1 + number % 28:02}",
                kind="payment" if amount < 0 else "invoice",
                number=f"INV-{number:06}",
                reference=f"Order {number}" if number % 2 else None,
                due_date=None if amount < 0 else "2026-11-30",
                total=_text(abs(amount)),
                amount=_text(amount),
                balance=_text(balance),
            )
        )
    plain = Account(
        currency=currency,
        opening="100.00",
        lines=lines,
        amounts=[_text(balance), "0.00", "0.00", "0.00", "0.00"],
        credit="0.00",
        balance=_text(balance),
    )
    return replace(plain, **fields)


def _text(minor: int) -> str:
    sign, minor = ("-", -minor) if minor < 0 else ("", minor)
    return f"{sign}{minor // 100}.{minor % 100:02}"


def statement(*accounts: Account, **fields: object) -> StatementPaper:
    plain = StatementPaper(
        from_date="2026-10-01",
        to_date="2026-11-20",
        seller=SELLER,
        client=CLIENT,
        bands=[(None, None), (1, 30), (31, 60), (61, 90), (91, None)],
        accounts=list(accounts),
        bank=ACCOUNT,
        look=Look(register="England and Wales", registered_office=LEEDS, footer="Makers of kitchens since 1987"),
    )
    return replace(plain, **fields)
