"""A statement of account as its template prints it: texts and figures in their order, none of them reckoned. Pure."""

from collections.abc import Iterator
from typing import Any, Final

from gatewayd.papers import layout
from gatewayd.papers.paper import is_nil
from gatewayd.papers.statement_paper import Account, AccountLine, StatementPaper

_KINDS: Final = {
    "invoice": "Invoice",
    "credit_note": "Credit note",
    "payment": "Payment",
    "refund": "Refund",
    "write_off": "Written off",
}
_FOR: Final = {"payment": " for", "refund": " of", "write_off": ":"}
_CAME: Final = "No longer written off"


def of_statement(paper: StatementPaper, country: dict[str, str]) -> dict[str, Any]:
    """What the template takes, as JSON. `country` has the names of countries by their codes."""
    return {
        "title": f"Statement of account, {layout.day(paper.to_date)}",
        "date": [int(part) for part in paper.to_date.split("-")],
        "accent": paper.look.accent or layout.PLAIN_ACCENT,
        "mark": "",
        "kind": "Statement",
        "number": "",
        "seller": layout.seller_block(paper.seller, paper.look, country),
        "client": layout.client_block(paper.client, paper.seller.country_code, country),
        "facts": [*_facts(paper)],
        "accounts": [_account(paper, account) for account in paper.accounts],
        "bank": [*layout.bank_rows(paper.bank, None)] if paper.bank and _is_owed(paper) else [],
        "qr": "",
        "texts": [],
        "footer": [*layout.footer(paper.seller, paper.look, country)],
    }


def _is_owed(paper: StatementPaper) -> bool:
    return any(not is_nil(account.balance) and not account.balance.startswith("-") for account in paper.accounts)


def _facts(paper: StatementPaper) -> Iterator[list[str]]:
    if paper.from_date is None:
        yield ["Outstanding on", layout.day(paper.to_date)]
    else:
        yield ["From", layout.day(paper.from_date)]
        yield ["To", layout.day(paper.to_date)]
    for account in paper.accounts:
        yield [_due(account), _unsigned(account)]


def _due(account: Account) -> str:
    return "In your favour" if account.balance.startswith("-") else "Balance due"


def _unsigned(account: Account) -> str:
    return layout.money_of(account.balance.removeprefix("-"), account.currency)


def _account(paper: StatementPaper, account: Account) -> dict[str, Any]:
    is_open = paper.from_date is None
    figures = ["Total", "Open"] if is_open else ["Invoiced", "Paid or credited"]
    return {
        "heading": f"Account in {account.currency}" if len(paper.accounts) > 1 else "",
        "columns": ["Date", "Details", "Pay by", *figures, f"Balance ({account.currency})"],
        "opening": []
        if is_open
        else [f"Balance before {layout.day(paper.from_date or '')}", layout.plain(account.opening)],
        "lines": [_line(line, is_open=is_open) for line in account.lines],
        "ages": [[*_bands(paper)], [layout.plain(amount) for amount in (*account.amounts, account.credit)]],
        "closing": [_due(account), _unsigned(account)],
    }


def _line(line: AccountLine, *, is_open: bool) -> list[str]:
    comes_back = line.kind == "write_off" and not line.amount.startswith("-")
    details = _CAME if comes_back else _KINDS[line.kind]
    if line.number is not None:
        details += f"{_FOR.get(line.kind, '')} {line.number}"
    elif is_open:
        details = "Payment on account"
    cells = [_short(line.date), f"{details}, {line.reference}" if line.reference else details]
    cells.append(_short(line.due_date) if line.due_date else "")
    if is_open:
        cells += [layout.plain(line.total), layout.plain(line.amount)]
    elif line.amount.startswith("-"):
        cells += ["", layout.plain(line.amount.removeprefix("-"))]
    else:
        cells += [layout.plain(line.amount), ""]
    return [*cells, layout.plain(line.balance)]


def _short(date: str) -> str:
    """An ISO date as 7 Nov 2026."""
    number, month, year = layout.day(date).split(" ")
    return f"{number} {month[:3]} {year}"


def _bands(paper: StatementPaper) -> Iterator[str]:
    for first, last in paper.bands:
        if first is None:
            yield "Not due yet"
        else:
            yield f"{first} to {last} days" if last is not None else f"{first} days and more"
    yield "In your favour"
