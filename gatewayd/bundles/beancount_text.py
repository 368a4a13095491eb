"""A period as beancount text: every transaction has two sides and balances in its currency. Pure.

    bank lines    the account against what each part was for; what is not allocated against Equity:Unallocated
    other money   allocations without such a line, against Equity:Elsewhere
    invoices      Assets:Receivables against income and VAT, on the day of supply; a payment takes from it
    bills         Liabilities:Payables against expenses and VAT, on the tax point; a payment takes from it

So it shows money, invoices and bills as they stand in the books, on accruals; what a business on cash basis made is in
the tables of profit and loss. Balances from before the period are not in it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from gatewayd.money import from_minor

UNALLOCATED: Final = "Equity:Unallocated"
ELSEWHERE: Final = "Equity:Elsewhere"
RECEIVABLES: Final = "Assets:Receivables"
PAYABLES: Final = "Liabilities:Payables"
_BARRED: Final = re.compile(r"[^A-Za-z0-9-]+")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]+")


class Posting(NamedTuple):
    """What goes to an account, in minor units of the transaction's currency."""

    account: str
    amount: int
    id: str | None = None


class Transaction(NamedTuple):
    """One event on an ISO date. `ids` are the rows of the books that it is, by the name of their kind."""

    date: str
    narration: str
    currency: str
    ids: Mapping[str, str]
    postings: tuple[Posting, ...]


def component(name: str) -> str:
    """A name as a part of an account: `costOfGoods` is `CostOfGoods`, `bac_01k` is `Bac-01k`."""
    text = _BARRED.sub("-", name)
    return text[:1].upper() + text[1:]


def balanced(transaction: Transaction, account: str) -> Transaction:
    """The transaction with what is missing to nothing on `account`."""
    rest = -sum(posting.amount for posting in transaction.postings)
    if not rest:
        return transaction
    return transaction._replace(postings=(*transaction.postings, Posting(account, rest)))


def text(opened_on: str, title: str, names: Mapping[str, str], transactions: Iterable[Transaction]) -> Iterator[str]:
    """The lines of the file, a part at a time. `names` are those of accounts, for people.

    Accounts are opened where they are first used: beancount sorts by date, not by place.
    """
    yield f"; {_plain(title)}\n"
    yield f'option "title" {_quoted(title)}\n'
    opened: set[str] = set()
    for transaction in transactions:
        for posting in transaction.postings:
            if posting.account not in opened:
                opened.add(posting.account)
                yield from _open(opened_on, posting.account, names)
        yield from _entry(transaction)


def _open(date: str, account: str, names: Mapping[str, str]) -> Iterator[str]:
    yield f"\n{date} open {account}\n"
    for part in account.split(":"):
        if part in names:
            yield f"  name: {_quoted(names[part])}\n"


def _entry(transaction: Transaction) -> Iterator[str]:
    yield f"\n{transaction.date} * {_quoted(transaction.narration)}\n"
    for kind, id_ in transaction.ids.items():
        yield f"  {kind}: {_quoted(id_)}\n"
    for posting in transaction.postings:
        amount = from_minor(posting.amount, transaction.currency)
        yield f"  {posting.account}  {amount} {transaction.currency}\n"
        if posting.id is not None:
            yield f"    allocation: {_quoted(posting.id)}\n"


def _plain(value: str) -> str:
    return _CONTROL.sub(" ", value)


def _quoted(value: str) -> str:
    escaped = _plain(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
