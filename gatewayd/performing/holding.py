"""Keeps an operation to the legal entities and days that its caller is held to: the one place where that is done.

A key that is held reads alone, and by those rows that say how they are held (decision 0040). What is given of a request
has to lie within what it is held to, what is left out is filled in where that leaves no choice, and what the handler
answers is looked at once more before it leaves. Whatever lies outside is answered as what is not there.
"""

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from functools import partial
from typing import Any, Final

import msgspec

from gatewayd.contract.caller import Caller
from gatewayd.contract.given_files import WrittenFile
from gatewayd.contract.holding import Days, Held, HeldBy, OwnedKind
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing
from gatewayd.contract.wire import encode
from gatewayd.errors import FieldError, Problem, gathered, invalid, invalid_field, not_found
from gatewayd.ledger.dates import tax_calendar
from gatewayd.ledger.taxpayers import owning
from gatewayd.performing.answers import encoded
from gatewayd.store import ReadTx

_OWNER: Final = "legalEntityId"
"""The member of answers that names a legal entity."""
_REFERENCES: Final[Mapping[str, OwnedKind]] = {
    "bankAccountId": "bank_account",
    "bankTransactionId": "bank_transaction",
    "billCreditNoteId": "bill",
    "billId": "bill",
    "businessId": "business",
    "counterAccountId": "asset_account",
    "counterpartId": "bank_transaction",
    "creditNoteId": "invoice",
    "creditsInvoiceId": "invoice",
    "invoiceId": "invoice",
    "linkedTransactionId": "asset_transaction",
    "propertyId": "property",
    "quoteId": "quote",
    "recurringId": "recurring_invoice",
}
"""Members of answers that may name what is another legal entity's, and are null then: the other side of what two did
together, or of what was paid from an account of the other.
"""
_PART_OWNERS: Final = "owners"
"""The one member of answers in which others are named beside who is meant: those who own a part of a property."""
_NAMING: Final = re.compile(rb'"(%b)"\s*:\s*"([^"]*)"' % "|".join([_OWNER, *_REFERENCES]).encode())
"""The same in the JSON of an answer, most of which name nobody else: a page of 50 invoices takes 0.6 ms so, and 1.9 to
be decoded and walked through. Quotes within a text are escaped, so that no text looks like it.
"""


def refuse(held: Held | None, operation: Operation) -> None:
    """Raises `Problem` `forbidden` for what no caller may ask for that is held to something, or to days."""
    if held is None:
        return
    if operation.held is None:
        what = "legal entities" if held.entities is not None else "days"
        raise Problem("forbidden", f"The key is held to some {what}, and this operation is not open to such keys.")
    if held.to_days and not operation.held.keeps_days:
        raise Problem("forbidden", "The key is held to some days, and this operation does not keep to days.")


def answer(tx: ReadTx, operation: Operation, caller: Caller, request: msgspec.Struct) -> Any:
    """What the handler of a read answers its caller, who is held to what it is held to.

    Raises what the handler raises, and `Problem`: `forbidden` as `refuse`, `validation_failed` for what is to be given
    and for days outside, `not_found` for what is somebody else's.
    """
    held = caller.held
    if held is None:
        return operation.handler(tx, caller, request)
    refuse(held, operation)
    by = operation.held
    assert by is not None
    if by.today and held.to_days and not held.has_day(tx.today):
        raise Problem("forbidden", "It tells how things are today, which is none of the days that the key is held to.")
    request = _bounded(tx, held, by, request)
    return _looked_at(tx, held, by, operation.handler(tx, caller, request))


# -- the request


def _bounded(tx: ReadTx, held: Held, by: HeldBy, request: msgspec.Struct) -> msgspec.Struct:
    """The request, bound to what is held. Raises `Problem`."""
    names = {field.name: field.encode_name for field in msgspec.structs.fields(request)}
    if getattr(request, "updated_since", None) is not None:
        # Chosen: what was removed since is told of the whole organization
        raise invalid_field("updatedSince", "conflict", "It is not open to a key that is held: leave it out.")
    errors: list[FieldError] = []
    filled: dict[str, object] = {}
    if held.entities is not None:
        filled |= gathered(errors, _owned, tx, held.entities, by, request) or {}
    if held.to_days and by.days is not None:
        errors += _wrong_days(held, by.days, request, names)
        filled |= _filled_days(held, by.days, request)
    if errors:
        raise invalid(*errors)
    return msgspec.structs.replace(request, **filled) if filled else request


def _owned(tx: ReadTx, entities: frozenset[str], by: HeldBy, request: msgspec.Struct) -> dict[str, object]:
    """What is to be filled in, so that the answer is of those entities alone.

    Raises `Problem`: `not_found` for what leads elsewhere or nowhere, `validation_failed` where nothing says whose.
    """
    if by.by_handler:
        return {}
    names = {field.name: field.encode_name for field in msgspec.structs.fields(request)}
    leading = False
    for name, kind in by.leads.items():
        for id_ in _ids(getattr(request, name)):
            leading = True
            if owning.owner_of(tx, kind, id_) not in entities:
                raise not_found(kind.replace("_", " "))
    if by.entity:
        given = getattr(request, by.entity)
        if given is not None and given not in entities:
            raise not_found("legal entity")
        if given is None and not leading and len(entities) == 1:
            return {by.entity: next(iter(entities))}
        leading = leading or given is not None
    if not leading:
        fields = [names[by.entity]] if by.entity else [names[name] for name in by.leads]
        message = f"The key is held to some legal entities: give {' or '.join(fields)}."
        raise invalid_field(fields[0], "required", message)
    return {}


def _ids(value: object) -> Iterator[str]:
    """The ids that a field gives, which holds one, several or none."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple | set | frozenset):
        yield from map(str, value)


def _wrong_days(held: Held, days: Days, request: msgspec.Struct, names: dict[str, str]) -> Iterator[FieldError]:
    year = getattr(request, days.tax_year) if days.tax_year else None
    usual = {field.name: field.default for field in msgspec.structs.fields(request)}
    for name in days.refused:
        if getattr(request, name) != usual[name]:
            message = "It leads past the days that the key is held to: leave it out."
            yield FieldError(names[name], "conflict", message)
    if year is not None and tax_calendar.is_tax_year(year) and not all(map(held.has_day, tax_calendar.bounds(year))):
        yield FieldError(names[days.tax_year], "out_of_range", _outside(held))
    for name in (days.first, days.last):
        given = _day(getattr(request, name))
        if given is not None and not held.has_day(given):
            yield FieldError(names[name], "out_of_range", _outside(held))
        if given is None and days.sums and year is None:
            message = "The key is held to some days: give the first and the last."
            yield FieldError(names[name], "required", message)


def _filled_days(held: Held, days: Days, request: msgspec.Struct) -> dict[str, object]:
    """The days held where the request leaves them out."""
    if days.sums or (days.tax_year and getattr(request, days.tax_year) is not None):
        return {}
    ends = ((days.first, held.first), (days.last, held.last))
    return {name: date.fromisoformat(day) for name, day in ends if day is not None and getattr(request, name) is None}


def _day(value: object) -> str | None:
    return None if value is None else value.isoformat() if isinstance(value, date) else str(value)


def _outside(held: Held) -> str:
    if held.first is None:
        return f"The key is held to days up to {held.last}."
    if held.last is None:
        return f"The key is held to days from {held.first} on."
    return f"The key is held to days from {held.first} to {held.last}."


# -- the answer


def _looked_at(tx: ReadTx, held: Held, by: HeldBy, value: Any) -> Any:
    """The answer, in which no other legal entity is named and no day outside. Raises `Problem` `not_found`.

    What may name others is null where it does: `_REFERENCES`, and who else owns a part of a property. Anywhere else an
    entity that is not held shows that a request was bound wrongly: then nothing leaves at all.
    """
    if type(value) is WrittenFile:  # whose it is, the request said
        return value
    body = encoded(value)
    if held.to_days and by.day_of:
        tree = msgspec.json.decode(body)
        if not all(isinstance(tree[name], str) and held.has_day(tree[name]) for name in by.day_of):
            raise not_found("thing")
    if held.entities is None:
        return value
    is_own = functools.cache(partial(_is_own, tx, held.entities))
    if all(is_own(name.decode(), id_.decode()) for name, id_ in _NAMING.findall(body)):
        return value
    tree = msgspec.json.decode(body)
    _hide_others(tree, is_own)
    if type(value) is Listing:
        return Listing.of(map(encode, tree["data"]), value.next_cursor, value.extra)
    return encode(tree)


def _is_own(tx: ReadTx, entities: frozenset[str], name: str, id_: str) -> bool:
    """Whether what a member of an answer names is of one of those legal entities."""
    return (id_ if name == _OWNER else owning.owner_of(tx, _REFERENCES[name], id_)) in entities


def _hide_others(tree: object, is_own: Callable[[str, str], bool]) -> None:
    """Take out what is named of others. Raises `Problem` `not_found`."""
    for each in _objects(tree):
        for part in each.get(_PART_OWNERS) or ():
            if isinstance(part[_OWNER], str) and not is_own(_OWNER, part[_OWNER]):
                part[_OWNER] = None
        for name in _REFERENCES:
            if isinstance(each.get(name), str) and not is_own(name, each[name]):
                each[name] = None
        if isinstance(each.get(_OWNER), str) and not is_own(_OWNER, each[_OWNER]):
            raise not_found("thing")


def _objects(tree: object) -> Iterator[dict[str, Any]]:
    """All objects in an answer, each before those in it."""
    if isinstance(tree, dict):
        yield tree
    for child in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _objects(child)
