"""The deposit of a tenancy: what of a request makes it, what is wrong with it, how it is shown. Pure."""

from collections.abc import Iterator, Mapping

from gatewayd.areas.landlord.register.tenancy_shapes import TenancyRow
from gatewayd.areas.landlord.tenancies.rules import amount_of
from gatewayd.areas.landlord.tenancies.shapes import CreateTenancy, Deposit, DepositPart
from gatewayd.errors import FieldError, gathered, invalid, invalid_field

_NONE: Mapping[str, object] = {
    "deposit_amount": None,
    "deposit_scheme": None,
    "deposit_reference": None,
    "deposit_received_date": None,
    "deposit_protected_date": None,
    "deposit_returned_amount": None,
    "deposit_returned_date": None,
}


def columns_of(part: DepositPart | None, currency: str, *, by_name: bool = False) -> Mapping[str, object]:
    """The fields of the row that a deposit gives; None: there is none.

    `by_name`: it was given by its parts, which then are what is wrong. Raises `Problem` `validation_failed`.
    """
    if part is None:
        return _NONE
    errors: list[FieldError] = []
    amount = gathered(errors, amount_of, _path("amount", by_name), part.amount, currency)
    returned = None
    if part.returned_amount is not None:
        returned = gathered(errors, amount_of, "deposit.returnedAmount", part.returned_amount, currency)
    if errors:
        raise invalid(*errors)
    return {
        "deposit_amount": amount,
        "deposit_scheme": part.scheme,
        "deposit_reference": part.reference,
        "deposit_received_date": _date_text(part.received_date),
        "deposit_protected_date": _date_text(part.protected_date),
        "deposit_returned_amount": returned,
        "deposit_returned_date": _date_text(part.returned_date),
    }


def part_of(request: CreateTenancy) -> DepositPart | None:
    """The deposit of a new tenancy, whichever form it has. Raises `Problem` `validation_failed`."""
    named = {
        "depositAmount": request.deposit_amount,
        "depositScheme": request.deposit_scheme,
        "depositReference": request.deposit_reference,
        "depositReceivedDate": request.deposit_received_date,
        "depositProtectedDate": request.deposit_protected_date,
    }
    paths = [path for path, value in named.items() if value is not None]
    if request.deposit is not None or not paths:
        if paths:
            raise invalid(
                *(
                    FieldError(path, "conflict", "It is a part of `deposit`: give that, or all parts by name.")
                    for path in paths
                )
            )
        return request.deposit
    if request.deposit_amount is None:
        message = "This field is required with the others of the deposit: how much is it?"
        raise invalid_field("depositAmount", "required", message)
    return DepositPart(
        amount=request.deposit_amount,
        scheme=request.deposit_scheme,
        reference=request.deposit_reference,
        received_date=request.deposit_received_date,
        protected_date=request.deposit_protected_date,
    )


def mistakes(row: TenancyRow, today: str, *, by_name: bool = False) -> Iterator[FieldError]:
    """What is wrong with the deposit of a tenancy. `by_name` is as with `columns_of`."""
    protected, returned = row.deposit_protected_date, row.deposit_returned_date
    if protected is not None and row.deposit_scheme in (None, "none"):
        message = "This field is required, as the deposit is protected: by which scheme, such as dps?"
        yield FieldError(_path("scheme", by_name), "required", message)
    if row.deposit_received_date is not None and row.deposit_received_date > today:
        yield FieldError(
            _path("receivedDate", by_name),
            "out_of_range",
            "The day is still to come: expected today or an earlier one.",
        )
    if protected is not None and protected > today:
        yield FieldError(
            _path("protectedDate", by_name),
            "out_of_range",
            "The day is still to come: expected today or an earlier one.",
        )
    if returned is not None and returned > today:
        yield FieldError(
            "deposit.returnedDate", "out_of_range", "The day is still to come: expected today or an earlier one."
        )
    held, back = row.deposit_amount, row.deposit_returned_amount
    if (back is None) != (returned is None):
        path = "returnedAmount" if back is None else "returnedDate"
        yield FieldError(f"deposit.{path}", "required", "This field is required: give what was returned, and when.")
    elif held is not None and back is not None and held < back:
        yield FieldError("deposit.returnedAmount", "out_of_range", f"{held} was taken: expected no more.")


def shown(row: TenancyRow) -> Deposit | None:
    """The deposit as it is served."""
    if row.deposit_amount is None:
        return None
    return Deposit(
        amount=row.deposit_amount,
        scheme=row.deposit_scheme,
        reference=row.deposit_reference,
        received_date=row.deposit_received_date,
        protected_date=row.deposit_protected_date,
        returned_amount=row.deposit_returned_amount,
        returned_date=row.deposit_returned_date,
    )


def _path(name: str, by_name: bool) -> str:
    return f"deposit{name[0].upper()}{name[1:]}" if by_name else f"deposit.{name}"


def _date_text(date: object) -> str | None:
    return None if date is None else str(date)
