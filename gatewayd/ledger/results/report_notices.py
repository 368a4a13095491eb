"""What the figures of an account do not say by themselves, told in `warnings`."""

from collections.abc import Iterator

from gatewayd.ledger.results import invoiced_income
from gatewayd.ledger.results.allocated_money import Basis
from gatewayd.ledger.results.report_shapes import PnlWarning
from gatewayd.ledger.results.results import Result
from gatewayd.store import ReadTx

_MOST_COUNTED = 1000  # Chosen: that there are many is enough


def of_choices(result: Result, own_basis: Basis, forbidding_year: str | None = None) -> Iterator[PnlWarning]:
    """The warnings about basis, expenses and VAT. `own_basis` is the one on which the business keeps its books.

    `forbidding_year` is the tax year whose turnover forbids consolidated expenses.
    """
    if result.account.basis != own_basis:
        yield PnlWarning(
            code="other_basis",
            message=f"The business keeps its books on {own_basis} basis. What was owed at the start and at the end of"
            " these days is not adjusted for.",
        )
    if forbidding_year is not None:
        yield PnlWarning(
            code="consolidated_expenses_not_allowed",
            message=f"The turnover of {forbidding_year} is too large for one figure for all expenses.",
        )
    yield from _of_rents(result)
    vat = result.account.vat
    for span, _ in result.spans:
        if vat.treatment_on(span.first) == "flat_rate" and vat.percent_on(span.first) is None:
            yield PnlWarning(
                code="flat_rate_percent_unknown",
                message=f"No flat rate of VAT is known from {span.first} on: nothing was taken off for it.",
            )
            return


def _of_rents(result: Result) -> Iterator[PnlWarning]:
    rents = result.beside.rents
    if rents.by_money:
        yield PnlWarning(
            code="rents_by_money",
            message=f"{rents.by_money} tenancies are in another currency, or of a property whose rent is invoiced: they"
            " count by what was received and invoiced, and not by what fell due.",
        )
    if rents.net_of_vat:
        yield PnlWarning(
            code="rents_net_by_payments",
            message="Rents that fell due are net of VAT by the part that the money of each tenancy has of it.",
        )


def of_invoices(tx: ReadTx, result: Result) -> Iterator[PnlWarning]:
    """The warnings about invoices that name no business."""
    here, nowhere = invoiced_income.without_business(tx, result.account, result.whole, _MOST_COUNTED)
    at_most = here + nowhere == _MOST_COUNTED
    if nowhere:
        yield PnlWarning(
            code="invoices_without_business",
            message=f"{_without_business(nowhere, at_most)}: they count nowhere.",
        )
    if here:
        yield PnlWarning(
            code="invoices_of_only_business",
            message=f"{_without_business(here, at_most)}: they count here, in the only business of their day.",
        )


def _without_business(count: int, at_most: bool) -> str:
    number = f"{count} or more" if at_most else str(count)
    return f"Of the invoices that the legal entity issued in these days, {number} name no business"
