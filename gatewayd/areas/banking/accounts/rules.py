"""The rules that the fields of a bank account follow."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from gatewayd import check_digits
from gatewayd.areas.banking import institutions
from gatewayd.areas.banking.accounts.rows import masked
from gatewayd.areas.banking.accounts.shapes import BankAccountRow, CreateAccount, GivenIdentifiers, UpdateAccount
from gatewayd.errors import FieldError, invalid
from gatewayd.ledger.references import unknown_reference
from gatewayd.ledger.taxpayers import owners
from gatewayd.store import ReadTx

R = TypeVar("R", CreateAccount, UpdateAccount)

_IN_PART = ("account_number", "iban")
_CAMEL = {"sort_code": "sortCode", "account_number": "accountNumber", "iban": "iban", "bic": "bic"}

_SELECT_ENTITY_OF_BUSINESS = "SELECT legal_entity_id FROM businesses WHERE org_id = :org_id AND id = :id"
_SELECT_SAME = """
SELECT id FROM bank_accounts
WHERE org_id = :org_id AND id <> :id AND status = 'active' AND account_number = :account_number
    AND sort_code = :sort_code
LIMIT 1
"""
_SPACING = str.maketrans("", "", " -")


def with_identifiers(request: R, before: BankAccountRow | None = None) -> R:
    """The request, its `identifiers` taken over into the fields of the same names.

    A number that comes back masked, as it was shown, is left out. Raises `Problem` `validation_failed` where a field
    and `identifiers` say different things.
    """
    identifiers = request.identifiers
    if not isinstance(identifiers, GivenIdentifiers):
        return request
    shown_in_part = {} if before is None else {name: masked(getattr(before, name)) for name in _IN_PART}
    said = {name: getattr(identifiers, name) for name in _CAMEL if getattr(identifiers, name) is not UNSET}
    said = {name: value for name, value in said.items() if value is None or value != shown_in_part.get(name)}
    beside = {name: getattr(request, name) for name in said}
    errors = [
        FieldError(f"identifiers.{_CAMEL[name]}", "conflict", f"`{_CAMEL[name]}` beside it says another: give one.")
        for name, value in said.items()
        if beside[name] not in (None, UNSET, value)
    ]
    if errors:
        raise invalid(*errors)
    return replace(request, **said)


def checked(
    tx: ReadTx, before: BankAccountRow | None, row: BankAccountRow, wrong: Sequence[FieldError] = ()
) -> BankAccountRow:
    """The account with identifiers in one form, its bank, and the legal entity of its businesses where it has none.

    What is as it was `before` is not checked again. `wrong` is what is known to be wrong already.

    Raises `Problem` `validation_failed` naming every field that is wrong.
    """
    entities = {id_: tx.value(_SELECT_ENTITY_OF_BUSINESS, id=id_) for id_ in row.business_ids}
    if row.legal_entity_id is None and before is None:
        row = replace(
            row, legal_entity_id=next((entity_id for entity_id in entities.values() if entity_id is not None), None)
        )
    errors = [
        *wrong,
        *_identifier_mistakes(row),
        *_institution_mistakes(before, row),
        *_entity_mistakes(tx, before, row),
        *_business_mistakes(row, entities),
    ]
    if errors:
        raise invalid(*errors)
    return with_bank(
        replace(
            row,
            sort_code=row.sort_code and row.sort_code.translate(_SPACING),
            account_number=row.account_number and row.account_number.translate(_SPACING),
            iban=row.iban and check_digits.iban(row.iban),
        )
    )


def with_bank(row: BankAccountRow) -> BankAccountRow:
    """The account with its bank: where it names none, the one that its numbers tell, else `inst_other`."""
    if row.institution_id not in (None, institutions.OTHER):
        return row
    bank_id = institutions.bank_of(sort_code=row.sort_code, iban=row.iban, bic=row.bic)
    return replace(row, institution_id=bank_id or institutions.OTHER)


def same_account(tx: ReadTx, row: BankAccountRow) -> str | None:
    """The id of another open account with the same sort code and number."""
    if row.sort_code is None or row.account_number is None:
        return None
    existing_id: str | None = tx.value(
        _SELECT_SAME, id=row.id, sort_code=row.sort_code, account_number=row.account_number
    )
    return existing_id


def _identifier_mistakes(row: BankAccountRow) -> Iterator[FieldError]:
    if row.iban is not None and check_digits.iban(row.iban) is None:
        message = "This is not an IBAN, such as GB29NWBK60161331926819: check its digits."
        yield FieldError("iban", "invalid_format", message)
    if row.bic is not None and not check_digits.is_bic(row.bic):
        yield FieldError(
            "bic", "invalid_format", "This is not a BIC: expected 8 or 11 letters and digits, such as BUKBGB22."
        )
    if row.account_number is not None and len(row.account_number.translate(_SPACING)) < 4:
        yield FieldError("accountNumber", "invalid_format", "Expected four letters or digits or more.")
    if row.overdraft_limit is not None and row.overdraft_limit.minor < 0:
        yield FieldError("overdraftLimit", "out_of_range", "Expected 0 or more.")


def _institution_mistakes(before: BankAccountRow | None, row: BankAccountRow) -> Iterator[FieldError]:
    kept = before is not None and before.institution_id == row.institution_id
    if row.institution_id is not None and not kept and row.institution_id not in institutions.BY_ID:
        message = "There is no such institution: `banking.listInstitutions` lists those there are."
        yield FieldError("institutionId", "unknown_reference", message)


def _entity_mistakes(tx: ReadTx, before: BankAccountRow | None, row: BankAccountRow) -> Iterator[FieldError]:
    if row.legal_entity_id is None or (before is not None and before.legal_entity_id == row.legal_entity_id):
        return
    yield from owners.mistakes(owners.find(tx, row.legal_entity_id))


def _business_mistakes(row: BankAccountRow, entities: dict[str, str | None]) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, id_ in enumerate(row.business_ids):
        path = f"businessIds[{index}]"
        if entities[id_] is None:
            yield unknown_reference(path, "business")
        elif entities[id_] != row.legal_entity_id:
            message = f"The business is of another legal entity, {entities[id_]}: all of an account are of one."
            yield FieldError(path, "conflict", message)
        elif id_ in seen:
            yield FieldError(path, "conflict", "The business is named twice.")
        seen.add(id_)
