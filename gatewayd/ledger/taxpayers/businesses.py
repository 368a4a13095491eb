"""A business, a source of income: facts on which money allocated to it depends, and its bank accounts. Reads only.

An account is of a business that it names or that names it in its `bankAccountIds`. Business accounts of its legal
entity that name nobody, and that nobody names, are of every business of the entity.
"""

from collections.abc import Iterable
from typing import Literal, NamedTuple

import msgspec

from gatewayd.clock import Instant, london_date
from gatewayd.store import ReadTx, Row

_COLUMNS = """
id, legal_entity_id, type, currency, owner_share_percent, accounting_basis, quarterly_period_type, status,
    commencement_date, cessation_date, archived_at
"""
_SELECT_ONE = f"SELECT {_COLUMNS} FROM businesses WHERE org_id = :org_id AND id = :id"
_SELECT_OF_ENTITY = f"""
SELECT {_COLUMNS} FROM businesses WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id ORDER BY id
"""
_SELECT_IN_USE = f"SELECT {_COLUMNS} FROM businesses WHERE org_id = :org_id AND archived_at IS NULL LIMIT 2"
_SELECT_ACCOUNTS = """
SELECT id, business_ids,
    CASE WHEN legal_entity_id = :legal_entity_id AND usage = 'business' THEN 1 ELSE 0 END
FROM bank_accounts WHERE org_id = :org_id ORDER BY id
"""
_SELECT_BUSINESSES = "SELECT id, legal_entity_id, bank_account_ids FROM businesses WHERE org_id = :org_id"
_SELECT_ACCOUNT = "SELECT business_ids, legal_entity_id FROM bank_accounts WHERE org_id = :org_id AND id = :account_id"
_ids = msgspec.json.Decoder(list[str])


class Business(NamedTuple):
    """A business of the caller's organization. Dates are ISO; `archived_on` is the day it went into the archive.

    `owner_share_percent` is the legal entity's own part of what is owned jointly, a decimal.

    None: nobody said when it commenced; it goes on; it is not archived.
    """

    id: str
    legal_entity_id: str
    type: str
    currency: str
    owner_share_percent: str
    accounting_basis: Literal["cash", "accruals"]
    quarterly_period_type: Literal["standard", "calendar"]
    status: str
    commenced_on: str | None
    ceased_on: str | None
    archived_on: str | None

    @property
    def archived(self) -> bool:
        """True while it is in the archive."""
        return self.archived_on is not None

    @property
    def is_live(self) -> bool:
        """True for what is neither ceased nor archived."""
        return not self.archived and self.status != "ceased"

    def is_live_on(self, date: str) -> bool:
        """True where it had commenced on an ISO date, had not ceased before, and was not in the archive."""
        return (
            (self.commenced_on is None or self.commenced_on <= date)
            and (self.ceased_on is None or date <= self.ceased_on)
            and (self.archived_on is None or date < self.archived_on)
        )


def find(tx: ReadTx, business_id: str) -> Business | None:
    """The business, archived or not; None where the organization has no such one."""
    row = tx.row(_SELECT_ONE, id=business_id)
    return None if row is None else _business(row)


def find_only(tx: ReadTx) -> Business | None:
    """The one business that is not archived; None where there is none, or there are several."""
    found = tx.rows(_SELECT_IN_USE)
    return _business(found[0]) if len(found) == 1 else None


def of_entity(tx: ReadTx, legal_entity_id: str) -> list[Business]:
    """The businesses of a legal entity, archived or not."""
    return [_business(row) for row in tx.rows(_SELECT_OF_ENTITY, legal_entity_id=legal_entity_id)]


def sole_on(of_entity: Iterable[Business], date: str) -> str | None:
    """The id of the one business of an entity that is live on an ISO date; None where none is, or several are."""
    live = [business.id for business in of_entity if business.is_live_on(date)]
    return live[0] if len(live) == 1 else None


def _business(row: Row) -> Business:
    business, archived_at = Business(*row), row[-1]
    return business if archived_at is None else business._replace(archived_on=london_date(Instant(archived_at)))


def entities_of(tx: ReadTx, account_id: str) -> list[str]:
    """Ids of the legal entities that an account may be of: its own, and those of its businesses, in their order."""
    row = tx.row(_SELECT_ACCOUNT, account_id=account_id)
    assert row is not None
    named, own = set(_ids.decode(row[0])), row[1]
    entity_ids = {of for id_, of, ids in tx.rows(_SELECT_BUSINESSES) if id_ in named or account_id in _ids.decode(ids)}
    return sorted(entity_ids if own is None else entity_ids | {own})


def accounts_of(tx: ReadTx, legal_entity_id: str, business_id: str | None) -> list[str]:
    """Ids of the accounts of a business of this legal entity, in their order.

    `business_id` None: of the entity as a whole, which are its business accounts and those of each of its businesses.
    """
    businesses = tx.rows(_SELECT_BUSINESSES)
    named_by: dict[str, set[str]] = {}
    for id_, _, account_ids in businesses:
        for account_id in _ids.decode(account_ids):
            named_by.setdefault(account_id, set()).add(id_)
    entitys = {id_ for id_, of, _ in businesses if of == legal_entity_id}
    wanted = entitys if business_id is None else {business_id}
    ids = []
    for account_id, names, is_entitys in tx.rows(_SELECT_ACCOUNTS, legal_entity_id=legal_entity_id):
        whose = named_by.get(account_id, set()).union(_ids.decode(names))
        if whose & wanted or (is_entitys and (business_id is None or not whose)):
            ids.append(account_id)
    return ids
