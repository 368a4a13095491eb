"""Bank lines that nobody has allocated yet, as far as they are an entity's or a business's. Reads only.

Counted are booked lines of business accounts. An account is of a business that it names, or of all of its entity where
it names none.
"""

from typing import NamedTuple

import msgspec

from gatewayd.ledger.hidden_imports import VISIBLE
from gatewayd.store import ReadTx

_SELECT_ACCOUNTS = """
SELECT id, business_ids FROM bank_accounts
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND usage = 'business' ORDER BY id
"""
_SELECT_LINES = f"""
SELECT count(id), min(id) FROM bank_transactions
WHERE org_id = :org_id AND account_id = :account_id AND date BETWEEN :first AND :last
    AND allocated <> amount AND status = 'booked' AND amount >= :least AND {VISIBLE}
"""
_LEAST = -(1 << 62)  # minor units: every amount
_ids = msgspec.json.Decoder(list[str])


class Unallocated(NamedTuple):
    """How many lines, and the id of one of them; None: there is none."""

    lines: int
    first_id: str | None


def lines(tx: ReadTx, legal_entity_id: str, business_id: str | None, days: tuple[str, str]) -> Unallocated:
    """The lines within ISO dates, both inclusive. `business_id` None: of the entity as a whole."""
    return _count(tx, _accounts(tx, legal_entity_id, business_id), days, _LEAST)


def income(tx: ReadTx, legal_entity_id: str, business_id: str, days: tuple[str, str]) -> Unallocated:
    """The same of money that came in."""
    return _count(tx, _accounts(tx, legal_entity_id, business_id), days, 1)


def _accounts(tx: ReadTx, legal_entity_id: str, business_id: str | None) -> list[str]:
    rows = tx.rows(_SELECT_ACCOUNTS, legal_entity_id=legal_entity_id)
    if business_id is None:
        return [id_ for id_, _ in rows]
    return [id_ for id_, of in rows if business_id in (_ids.decode(of) or [business_id])]


def _count(tx: ReadTx, account_ids: list[str], days: tuple[str, str], least: int) -> Unallocated:
    first, last = days
    total, first_id = 0, None
    for account_id in account_ids:
        count, id_ = tx.rows(_SELECT_LINES, account_id=account_id, first=first, last=last, least=least)[0]
        total, first_id = total + count, first_id or id_
    return Unallocated(total, first_id)
