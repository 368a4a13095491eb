"""Parts of requests as the ledger takes them: amounts in minor units, dates as text."""

from collections.abc import Sequence

from gatewayd.areas.banking.allocations.shapes import AllocationPart
from gatewayd.errors import FieldError, invalid, invalid_field
from gatewayd.ledger.allocating.allocation_shapes import Part
from gatewayd.money import Money, canonical, to_minor

_AMOUNTS = (("amount", "amount"), ("vat_amount", "vatAmount"), ("disallowable_amount", "disallowableAmount"))


def parts_of(parts: Sequence[AllocationPart], currency: str) -> list[Part]:
    """Each part with its amounts in `currency`. Raises `Problem` `validation_failed`."""
    errors: list[FieldError] = []
    found = [_part(part, currency, f"parts[{index}].", errors) for index, part in enumerate(parts)]
    if errors:
        raise invalid(*errors)
    return found


def money(path: str, text: str | None, currency: str) -> Money | None:
    """An amount of a request; None stays None. Raises `Problem` `validation_failed`."""
    try:
        return None if text is None else Money.of(text, currency)
    except ValueError as error:
        raise invalid_field(path, "invalid_decimal", f"{error}.") from None


def _part(part: AllocationPart, currency: str, path: str, errors: list[FieldError]) -> Part:
    amounts: dict[str, int | None] = {}
    for field, name in _AMOUNTS:
        text = getattr(part, field)
        try:
            amounts[field] = None if text is None else to_minor(text, currency)
        except ValueError as error:
            errors.append(FieldError(path + name, "invalid_decimal", f"{error}."))
            amounts[field] = 0
    if part.allowable is not None and part.disallowable_amount is not None:
        errors.append(FieldError(f"{path}allowable", "conflict", "`disallowableAmount` says it already."))
    return Part(
        category=part.category,
        purpose=part.purpose,
        business_id=part.business_id,
        direction=part.direction,
        amount=amounts["amount"],
        vat_code=part.vat_code,
        vat_amount=amounts["vat_amount"],
        capital_goods=part.capital_goods,
        disallowable_amount=0 if part.allowable else amounts["disallowable_amount"],
        wholly_disallowable=part.allowable is False,
        property_id=part.property_id,
        unit_id=part.unit_id,
        tenancy_id=part.tenancy_id,
        mortgage_id=part.mortgage_id,
        document_date=None if part.document_date is None else part.document_date.isoformat(),
        fx_rate=None if part.fx_rate is None else canonical(part.fx_rate),
        description=part.description,
        document_ids=tuple(part.document_ids or ()),
        external_id=part.external_id,
    )
