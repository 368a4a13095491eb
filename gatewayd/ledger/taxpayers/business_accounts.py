"""Which bank accounts are a business's or a legal entity's. Reads only.

An account is of a business that it names or that names it in its `bankAccountIds`. Business accounts of its legal
entity that name nobody, and that nobody names, are of every business of the entity.
"""

import msgspec

from gatewayd.store import ReadTx

_SELECT_ACCOUNTS = """
SELECT id, business_ids,
    CASE WHEN legal_entity_id = :legal_entity_id AND usage = 'business' THEN 1 ELSE 0 END
FROM bank_accounts WHERE org_id = :org_id ORDER BY id
"""
_SELECT_BUSINESSES = "SELECT id, legal_entity_id, bank_account_ids FROM businesses WHERE org_id = :org_id"
_SELECT_ACCOUNT = "SELECT business_ids, legal_entity_id FROM bank_accounts WHERE org_id = :org_id AND id = :account_id"
_ids = msgspec.json.Decoder(list[str])


def entities_of(tx: ReadTx, account_id: str) -> list[str]:
    """Ids of the legal entities that an account may be of: its own, and those of its businesses, in their order."""
    row = tx.row(_SELECT_ACCOUNT, account_id=account_id)
    assert row is not None
    named, own = set(_ids.decode(row[0])), row[1]
    found = {of for id_, of, ids in tx.rows(_SELECT_BUSINESSES) if id_ in named or account_id in _ids.decode(ids)}
    return sorted(found if own is None else found | {own})


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
    found = []
    for account_id, names, is_entitys in tx.rows(_SELECT_ACCOUNTS, legal_entity_id=legal_entity_id):
        whose = named_by.get(account_id, set()).union(_ids.decode(names))
        if whose & wanted or (is_entitys and (business_id is None or not whose)):
            found.append(account_id)
    return found
