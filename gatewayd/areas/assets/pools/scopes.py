"""Whose holdings a transaction concerns: its account's, and the pool of the person behind it. Reads only."""

from typing import Final, NamedTuple

from gatewayd.ledger.taxpayers.owners import POOLING, TAXED_AS_PERSONS
from gatewayd.store import ReadTx

POOL_CURRENCY: Final = "GBP"  # Decision 0022: pools are kept in pounds

_SELECT_ACCOUNT = """
SELECT account.legal_entity_id, account.portfolio_id, account.tax_wrapper, account.allow_short,
    portfolio.base_currency, entity.type
FROM asset_accounts AS account
JOIN asset_portfolios AS portfolio ON portfolio.org_id = :org_id AND portfolio.id = account.portfolio_id
JOIN legal_entities AS entity ON entity.org_id = :org_id AND entity.id = account.legal_entity_id
WHERE account.org_id = :org_id AND account.id = :id
"""


class Scope(NamedTuple):
    """An account, or the pool of a legal entity, which has no portfolio. `currency` is what its costs are in."""

    id: str
    legal_entity_id: str
    portfolio_id: str | None
    currency: str
    allow_short: bool

    @property
    def is_pool(self) -> bool:
        """Whether disposals are matched by days."""
        return self.portfolio_id is None


class Concerned(NamedTuple):
    """The scopes of an account's transactions. `pool` None: it has a wrapper, or no pounds, or is a company's.

    `taxed_as_persons`: whoever owns it pays Income Tax, or its partners do.
    """

    account: Scope
    pool: Scope | None
    wrapped: bool
    taxed_as_persons: bool


def concerned(tx: ReadTx, account_id: str) -> Concerned:
    """The scopes of an account of the organization, which must be there."""
    row = tx.row(_SELECT_ACCOUNT, id=account_id)
    if row is None:
        raise LookupError(f"there is no account {account_id}")
    entity_id, portfolio_id, wrapper, allow_short, currency, entity_type = row
    account = Scope(account_id, entity_id, portfolio_id, currency, bool(allow_short))
    wrapped = wrapper != "none"
    if wrapped or currency != POOL_CURRENCY or entity_type not in POOLING:
        return Concerned(account, None, wrapped, entity_type in TAXED_AS_PERSONS)
    return Concerned(account, pool_of(entity_id), wrapped, taxed_as_persons=True)


def pool_of(legal_entity_id: str) -> Scope:
    """The pool of a person."""
    return Scope(legal_entity_id, legal_entity_id, None, POOL_CURRENCY, True)
