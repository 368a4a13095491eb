"""What a tenancy does not keep of the law, told in `warnings` (Domain B4). Pure; nothing is refused for it."""

from collections.abc import Iterator, Mapping
from typing import Final

from gatewayd.areas.landlord.register import rent_terms, tenancy_states
from gatewayd.areas.landlord.register.tenancy_shapes import RentStep, TenancyRow
from gatewayd.areas.landlord.rents import section_13
from gatewayd.areas.landlord.rents.section_13 import FindingCode
from gatewayd.areas.landlord.tenancies import deposit_law, notice_law
from gatewayd.areas.landlord.tenancies.shapes import TenancyWarning, TenancyWarningCode
from gatewayd.ledger.rents import schedule, stored_terms
from gatewayd.money import Money

_OF_FINDINGS: Final[Mapping[FindingCode, TenancyWarningCode]] = {
    "notice_missing": "rent_notice_missing",
    "notice_form": "rent_notice_form",
    "notice_too_short": "rent_notice_too_short",
    "before_effective_date": "rent_before_notice",
    "not_first_day_of_period": "rent_within_period",
    "first_52_weeks": "rent_raised_too_often",
    "within_52_weeks": "rent_raised_too_often",
}

_NO_TERM: Final = (
    f"In England assured tenancies have no fixed term since {tenancy_states.PERIODIC_FROM}: this one goes on past it."
    " When it ends, give `endedDate`."
)
_NO_TERM_IN_SCOTLAND: Final = (
    "A private residential tenancy has no term: this one goes on past it. When it ends, give `endedDate`."
)


def no_term(row: TenancyRow) -> TenancyWarning:
    """What there is to say of a term that the law undoes."""
    message = _NO_TERM_IN_SCOTLAND if row.type == "private_residential_tenancy" else _NO_TERM
    return TenancyWarning(code="fixed_term_not_allowed", message=message)


def warnings(row: TenancyRow, today: str) -> list[TenancyWarning]:
    """What there is to say of a tenancy today: its term, notice, rent period, deposit, the rent in force, the next."""
    if row.cancelled_at is not None:
        return []
    to_come = [step for step in row.rent_history if step.from_date > max(today, row.start_date)]
    rents = (rent_terms.step_on(row, today), *to_come[:1])
    return [
        *_of_term(row, today),
        *notice_law.warnings(row, today),
        *_of_period(row, today),
        *deposit_law.warnings(row, today),
        *(warning for step in rents for warning in of_rent(row, step)),
    ]


def of_rent(row: TenancyRow, step: RentStep) -> list[TenancyWarning]:
    """What there is to say of a rent of the tenancy."""
    return [
        TenancyWarning(code=_OF_FINDINGS[finding.code], message=f"Rent from {step.from_date}: {finding.message}")
        for finding in section_13.findings(row, step)
    ]


def _of_term(row: TenancyRow, today: str) -> Iterator[TenancyWarning]:
    if tenancy_states.is_past_term(row, today):
        message = (
            f"Its term was over on {row.term_end_date}, and nobody said that it ended: by law it goes on, and rent is"
            " due. Give `endedDate` if the tenants left, or clear `termEndDate` if they stay."
        )
        yield TenancyWarning(code="term_over", message=message)


def _of_period(row: TenancyRow, today: str) -> Iterator[TenancyWarning]:
    """Told until a rent by the month is entered, which says that people know."""
    since = rent_terms.monthly_since(row)
    if since is None or today < tenancy_states.PERIODIC_FROM or row.rent_history[-1].frequency is not None:
        return
    last = stored_terms.last_longer(rent_terms.agreed(row))
    agreed, days = Money(last.amount, row.currency), stored_terms.days_of(last)
    by_law = Money(schedule.rent_on(rent_terms.of_row(row), since).amount, row.currency)
    message = (
        f"Rent periods of assured tenancies that begin since {tenancy_states.PERIODIC_FROM} are a month at most: from"
        f" {since} on {by_law} is due a month, the {agreed} of the {days} days before / {days} x 30.42. Enter it as"
        " `rent` from that day on, or what else was agreed, to say that it is known."
    )
    yield TenancyWarning(code="rent_period_ended", message=message)


def of_last_quarter(before: TenancyRow | None, after: TenancyRow) -> Iterator[TenancyWarning]:
    """What there is to say of a last rent that the change has made a part of one (Domain C3). `before` None: it is new.

    At common law rent that is due in advance on quarter days is due whole, and nothing of it is given back: Ellis v
    Rowbotham [1900] 1 QB 740; Marks and Spencer plc v BNP Paribas [2015] UKSC 72. It is counted by days where the lease
    says so, as most do of their last quarter. What the lease says nobody told, and so what is counted is told.
    """
    its = rent_terms.of_row(after)
    if its.end is None or after.rent_quarter_days is None or after.cancelled_at is not None:
        return
    if before is not None and rent_terms.of_row(before) == its:
        return
    begins = schedule.latest_due(its, its.end)
    if begins is None or schedule.rent_on(its, begins).quarter_days is None:
        return
    last = next(schedule.dues(its, begins, begins))
    whole_quarter = next(schedule.dues(its._replace(end=None), begins, begins))
    if last.amount < whole_quarter.amount:
        counted, full = Money(last.amount, after.currency), Money(whole_quarter.amount, after.currency)
        message = (
            f"It ends on {last.last}, within a quarter: {counted} is counted for its days. All of {full} is owed since"
            f" {begins} unless the lease has the last rent by days."
        )
        yield TenancyWarning(code="rent_apportioned", message=message)
