"""Who sent a document, by whom the organization knows: its own entities never, its clients and suppliers first."""

import re
from typing import Final, NamedTuple

from msgspec.structs import replace

from gatewayd.extraction.shapes import Facts
from gatewayd.store import ReadTx

KNOWN: Final = 0.95  # Chosen: how far a sender is to be trusted that the organization knows
_MOST_ENTITIES, _MOST_CLIENTS = 200, 1_000  # Chosen
_FEWEST_LETTERS: Final = 5  # Chosen: shorter names stand in any word
_NOT_WORDS = re.compile(r"[\W_]+")
_OF_COMPANIES = re.compile(r"\b(ltd|limited|plc|llp|inc|gmbh|and co|& co)\b\.?")

_SELECT_OWN = """
SELECT name, legal_name, vat_number FROM legal_entities WHERE org_id = :org_id ORDER BY id LIMIT :count
"""
_SELECT_CLIENTS = """
SELECT id, name, vat_number FROM clients WHERE org_id = :org_id AND archived_at IS NULL ORDER BY id LIMIT :count
"""


class Party(NamedTuple):
    """A client or supplier. `vat_number` with the letters of its country."""

    id: str
    name: str
    vat_number: str | None


def letters(name: str) -> str:
    """A name by its letters alone, without what companies are called: two spellings of it are equal."""
    return _NOT_WORDS.sub("", _OF_COMPANIES.sub("", name.casefold()))


def chosen(tx: ReadTx, facts: Facts) -> tuple[Facts, bool]:
    """The facts with the sender by those whom the organization knows; and whether it made the document itself."""
    names, numbers = _own(tx)
    others = [number for number in facts.vat_numbers if number not in numbers]
    senders = [name for name in facts.senders if letters(name) not in names]
    is_named = letters(facts.counterparty or "") in names
    if is_named and (not senders or (facts.vat_number in numbers and not others)):
        return replace(facts, counterparty=None, vat_number=None), True
    if facts.source == "embedded" or facts.certificate is not None:
        return facts, False
    number = facts.vat_number if facts.vat_number not in numbers else None
    sender = (senders[0] if senders else None) if is_named else facts.counterparty
    found = replace(facts, counterparty=sender, vat_number=number, vat_numbers=others, senders=senders)
    party = _known(found, parties(tx))
    if party is None:
        return found, False
    sure = replace(found.confidences, counterparty=KNOWN)
    return replace(found, counterparty=party.name, confidences=sure), False


def parties(tx: ReadTx) -> list[Party]:
    """The organization's clients and suppliers, the oldest."""
    rows = tx.rows(_SELECT_CLIENTS, count=_MOST_CLIENTS)
    return [Party(id_, name, f"GB{number}" if number and number.isdigit() else number) for id_, name, number in rows]


def party_of(known: list[Party], vat_number: str | None, name: str | None) -> str | None:
    """The id of the client or supplier with a VAT number, else with a name; None: there is none, or are several."""
    by_number = [party.id for party in known if vat_number is not None and party.vat_number == vat_number]
    by_name = [party.id for party in known if name and letters(party.name) == letters(name)]
    return next((ids[0] for ids in (by_number, by_name) if len(ids) == 1), None)


def _known(facts: Facts, parties: list[Party]) -> Party | None:
    """The one with a VAT number of the document, else the one that the likeliest sender is called after."""
    by_number = [party for party in parties if party.vat_number in facts.vat_numbers]
    if len(by_number) == 1:
        return by_number[0]
    sender = letters(facts.counterparty or "")
    if len(sender) < _FEWEST_LETTERS:
        return None
    by_name = [party for party in parties if letters(party.name) == sender]
    return by_name[0] if len(by_name) == 1 else None


def _own(tx: ReadTx) -> tuple[frozenset[str], frozenset[str]]:
    """The names and VAT numbers of the organization's own legal entities."""
    rows = tx.rows(_SELECT_OWN, count=_MOST_ENTITIES)
    names = {letters(name) for *both, _ in rows for name in both if name}
    return frozenset(names), frozenset(f"GB{number}" for *_, number in rows if number)
