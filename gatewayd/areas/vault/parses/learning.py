"""What corrections have told of the bills of a sender, for the next of them. Owns the table `vault_learned`.

A sender is known by its VAT number and its bank accounts, by the letters of its name only where it has neither. What
is always the same is learned as it is: the sender's name, the currency, what kind of document it sends. What differs
from bill to bill is learned by the letters that stand before it (`Told`). Bounded for each organization; the oldest go.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Final

from msgspec.structs import replace

from gatewayd.areas.vault.parses.rows import StoredFacts
from gatewayd.areas.vault.parses.senders import letters
from gatewayd.extraction.shapes import Confidences, Facts
from gatewayd.store import ReadTx, WriteTx

MOST: Final = 5_000  # Chosen: rows of an organization, some hundred senders
LEARNED: Final = 0.9  # Chosen: how far it is to be trusted
_ALWAYS: Final = ("counterparty", "vat_number", "currency", "kind")
_BEHIND_LABEL: Final = {
    **dict.fromkeys(("total", "net", "vat"), "money"),
    **dict.fromkeys(("date", "due_date"), "date"),
    "reference": "number",
}

_LEARN = """
INSERT INTO vault_learned (org_id, sender_key, field, value, label, learned_at)
VALUES (:org_id, :sender_key, :field, :value, :label, :now)
ON CONFLICT (org_id, sender_key, field) DO UPDATE SET value = excluded.value, label = excluded.label,
    learned_at = excluded.learned_at
"""
_SELECT = "SELECT field, value, label FROM vault_learned WHERE org_id = :org_id AND sender_key = :sender_key"
_SELECT_BEYOND = """
SELECT sender_key, field FROM vault_learned WHERE org_id = :org_id
ORDER BY learned_at DESC, sender_key DESC, field DESC LIMIT :count OFFSET :most
"""
_FORGET = "DELETE FROM vault_learned WHERE org_id = :org_id AND sender_key = :sender_key AND field = :field"


def learn(tx: WriteTx, read: StoredFacts, corrected: Mapping[str, str | None]) -> None:
    """Learn from what somebody corrected of a document, of which `read` was known before."""
    for field, value in corrected.items():
        if value is None:
            continue
        label = _label_of(read, field, value)
        if field not in _ALWAYS and label is None:
            continue  # it stands nowhere: the next bill tells nothing by it
        for key in _keys(read.vat_numbers or _listed(read.vat_number), read.bank_accounts, read.counterparty):
            tx.run(_LEARN, sender_key=key, field=field, value=None if label else value, label=label)
    for key, field in tx.rows(_SELECT_BEYOND, count=MOST, most=MOST):
        tx.run(_FORGET, sender_key=key, field=field)


def confirm(tx: WriteTx, read: StoredFacts) -> None:
    """Learn whose VAT number and bank accounts a document has, which somebody accepted as it was read."""
    if read.counterparty is not None and (read.vat_numbers or read.bank_accounts):
        learn(tx, read, {"counterparty": read.counterparty})


def _label_of(read: StoredFacts, field: str, value: str) -> str | None:
    kind = _BEHIND_LABEL.get(field)
    return next((told.label for told in read.told if told.kind == kind and told.value == value), None)


def applied(tx: ReadTx, facts: Facts) -> Facts:
    """What was read, with what was learned of its sender. Net and VAT that do not come to the total then are none."""
    learned: dict[str, tuple[str | None, str | None]] = {}
    for key in reversed(list(_keys(facts.vat_numbers, facts.bank_accounts, facts.counterparty))):
        learned |= {field: (value, label) for field, value, label in tx.rows(_SELECT, sender_key=key)}
    known = {field: found for field, row in learned.items() if (found := _value(facts, field, row)) is not None}
    if not known:
        return facts
    sure = {field: LEARNED for field in known if field in Confidences.__struct_fields__}
    return _agreeing(replace(facts, **known, confidences=replace(facts.confidences, **sure)), known)


def _value(facts: Facts, field: str, row: tuple[str | None, str | None]) -> str | None:
    value, label = row
    if label is None:
        return value if field in _ALWAYS else None
    kind = _BEHIND_LABEL.get(field)
    return next((told.value for told in facts.told if told.kind == kind and told.label == label), None)


def _agreeing(facts: Facts, known: Mapping[str, str]) -> Facts:
    if not known.keys() & {"total", "net", "vat"} or agrees(facts.total, facts.net, facts.vat):
        return facts
    return replace(facts, net=None, vat=None, confidences=replace(facts.confidences, net=None, vat=None))


def agrees(total: str | None, net: str | None, vat: str | None) -> bool:
    """Whether net and VAT come to the total, as far as all are told."""
    if total is None or net is None or vat is None:
        return True
    return Decimal(net) + Decimal(vat) == Decimal(total)


def _keys(vat_numbers: list[str], bank_accounts: list[str], name: str | None) -> Iterator[str]:
    """By what a sender is known, the surest first."""
    yield from (f"vat:{number}" for number in vat_numbers)
    yield from (f"bank:{account}" for account in bank_accounts)
    if not vat_numbers and not bank_accounts and name is not None and (spelled := letters(name)):
        yield f"name:{spelled}"


def _listed(value: str | None) -> list[str]:
    return [] if value is None else [value]
