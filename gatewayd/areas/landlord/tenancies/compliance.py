"""What a tenancy does not keep of the law, told in `warnings` (Domain B4). Pure; nothing is refused for it."""

from collections.abc import Mapping
from typing import Final

from gatewayd.areas.landlord.rents import section_13
from gatewayd.areas.landlord.rents.section_13 import FindingCode
from gatewayd.areas.landlord.tenancies import deposit_law, rent_steps, states
from gatewayd.areas.landlord.tenancies.shapes import (
    RentStep,
    TenancyRow,
    TenancyWarning,
    TenancyWarningCode,
)

_OF_FINDINGS: Final[Mapping[FindingCode, TenancyWarningCode]] = {
    "notice_missing": "rent_notice_missing",
    "notice_form": "rent_notice_form",
    "notice_too_short": "rent_notice_too_short",
    "before_effective_date": "rent_before_notice",
    "not_first_day_of_period": "rent_within_period",
    "first_52_weeks": "rent_raised_too_often",
    "within_52_weeks": "rent_raised_too_often",
}

NO_TERM: Final = TenancyWarning(
    code="fixed_term_not_allowed",
    message=f"In England assured tenancies have no fixed term since {states.PERIODIC_FROM}: this one goes on past its"
    " `endDate`. When it ends, say so with landlord.updateTenancy.",
)


def warnings(row: TenancyRow, today: str) -> list[TenancyWarning]:
    """What there is to say of a tenancy today: of its deposit, of the rent in force, and of the next."""
    if row.cancelled_at is not None:
        return []
    to_come = [step for step in row.rent_history if step.from_date > max(today, row.start_date)]
    rents = (rent_steps.step_on(row, today), *to_come[:1])
    return [*deposit_law.warnings(row, today), *(warning for step in rents for warning in of_rent(row, step))]


def of_rent(row: TenancyRow, step: RentStep) -> list[TenancyWarning]:
    """What there is to say of a rent of the tenancy."""
    return [
        TenancyWarning(code=_OF_FINDINGS[found.code], message=f"Rent from {step.from_date}: {found.message}")
        for found in section_13.findings(row, step)
    ]
