"""What is left to allocate on the bank accounts of a business, as its profit and loss tells (Domain C1). Reads only.

An account is of a business that it names or that names it, and business accounts of its entity that name nobody are of
every business of the entity, as for the closing of periods.
"""

from typing import NamedTuple

import msgspec

from gatewayd.ledger.date_ranges import DateRange
from gatewayd.ledger.hidden_imports import VISIBLE
from gatewayd.store import ReadTx

_SELECT_ACCOUNTS = """
SELECT id, business_ids, CASE WHEN legal_entity_id = :legal_entity_id AND usage = 'business' THEN 1 ELSE 0 END
FROM bank_accounts WHERE org_id = :org_id ORDER BY id
"""
_SELECT_NAMED = "SELECT legal_entity_id, bank_account_ids FROM businesses WHERE org_id = :org_id AND id = :id"
_SELECT_UNALLOCATED = f"""
SELECT currency, count(*), sum(amount - allocated) FROM bank_transactions
WHERE org_id = :org_id AND account_id = :account_id AND date BETWEEN :first AND :last
    AND allocated <> amount AND status = 'booked' AND {VISIBLE}
GROUP BY currency
"""
_ids = msgspec.json.Decoder(list[str])


class Unallocated(NamedTuple):
    """Bank lines that are not allocated whole: how many, and what is left of them, minor units, + in and - out."""

    currency: str
    lines: int
    amount: int


def accounts_of(tx: ReadTx, business_id: str) -> list[str]:
    """The bank accounts of a business of the caller's organization."""
    legal_entity_id, named = tx.rows(_SELECT_NAMED, id=business_id)[0]
    found = set(_ids.decode(named))
    for account_id, names, is_entitys in tx.rows(_SELECT_ACCOUNTS, legal_entity_id=legal_entity_id):
        businesses = _ids.decode(names)
        if business_id in businesses or (is_entitys and not businesses):
            found.add(account_id)
    return sorted(found)


def of_business(tx: ReadTx, business_id: str, whole: DateRange) -> list[Unallocated]:
    """What is left to allocate in a range on the accounts of a business, by currency."""
    sums: dict[str, list[int]] = {}
    for account_id in accounts_of(tx, business_id):
        for currency, count, amount in tx.rows(_SELECT_UNALLOCATED, account_id=account_id, **whole._asdict()):
            found = sums.setdefault(currency, [0, 0])
            found[0] += count
            found[1] += amount
    return [Unallocated(currency, *found) for currency, found in sorted(sums.items())]
