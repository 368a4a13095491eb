"""Identifiers of an account as they are read, in a request that writes them. Pure."""

from typing import TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from gatewayd.areas.banking.accounts.rows import masked
from gatewayd.areas.banking.accounts.shapes import BankAccountRow, CreateAccount, GivenIdentifiers, UpdateAccount
from gatewayd.errors import FieldError, invalid

R = TypeVar("R", CreateAccount, UpdateAccount)

_IN_PART = ("account_number", "iban")
_CAMEL = {"sort_code": "sortCode", "account_number": "accountNumber", "iban": "iban", "bic": "bic"}


def with_identifiers(request: R, before: BankAccountRow | None = None) -> R:
    """The request with what `identifiers` says in the fields beside it, but for what comes back as it was shown.

    Raises `Problem` `validation_failed` where the two say different things.
    """
    given = request.identifiers
    if not isinstance(given, GivenIdentifiers):
        return request
    shown_in_part = {} if before is None else {name: masked(getattr(before, name)) for name in _IN_PART}
    said = {name: getattr(given, name) for name in _CAMEL if getattr(given, name) is not UNSET}
    said = {name: value for name, value in said.items() if value is None or value != shown_in_part.get(name)}
    beside = {name: getattr(request, name) for name in said}
    errors = [
        FieldError(f"identifiers.{_CAMEL[name]}", "conflict", f"`{_CAMEL[name]}` beside it says another.")
        for name, value in said.items()
        if beside[name] not in (None, UNSET, value)
    ]
    if errors:
        raise invalid(*errors)
    return replace(request, **said)
