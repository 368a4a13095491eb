"""What the figures of properties do not say by themselves. Reads only."""

from collections.abc import Iterator, Sequence

from gatewayd.areas.landlord.results.counting import Counted
from gatewayd.areas.landlord.results.subjects import Subjects
from gatewayd.ledger.allocating import lets
from gatewayd.ledger.allocating.lets import LetMortgage
from gatewayd.ledger.loans import amortising, loans
from gatewayd.ledger.results import reports
from gatewayd.ledger.results.report_shapes import PnlWarning
from gatewayd.store import ReadTx


def of_accounts(tx: ReadTx, subjects: Subjects, counted: Sequence[Counted], *, rest: bool) -> Iterator[PnlWarning]:
    """The warnings about each business, and about each property. `rest`: what names no property is told too."""
    for source in subjects.sources.values():
        result = next(one.result for one in counted if one.source is source)
        yield from reports.of_choices(result, source.business.accounting_basis)
        if rest:
            yield from reports.of_invoices(tx, result)
    for one in counted:
        yield from _of_loans(tx, one)
        yield from _of_deducted(one)


def _of_loans(tx: ReadTx, one: Counted) -> Iterator[PnlWarning]:
    """Chosen: a loan that is repaid has both interest and capital in any days in which it was paid."""
    interest = {mortgage_id for mortgage_id, _ in one.financing.interest}
    capital = {repaid.mortgage_id for repaid in one.financing.repaid}
    for mortgage in lets.mortgages_of(tx, one.let.id):
        if mortgage.id in capital - interest:
            yield PnlWarning(
                code="capital_without_interest",
                message=f"Of the mortgage {mortgage.id} capital was repaid in these days, and no interest paid: was it"
                " part of the payment? A `loan_payment` is split into both.",
            )
        if mortgage.id in interest - capital and mortgage.type != "interest_only":
            yield PnlWarning(
                code="interest_without_capital",
                message=f"Of the mortgage {mortgage.id}, which is repaid, only interest was paid in these days: was it"
                " the whole payment? A `loan_payment` is split into both.",
            )
        yield from _of_payments(tx, one, mortgage)
    if one.financing.without_rate:
        yield PnlWarning(
            code="capital_without_rate",
            message=f"{one.financing.without_rate} repayments of loans on {one.let.id} are in another currency and have"
            " no rate of exchange: they are no part of the capital repaid.",
        )


def _of_payments(tx: ReadTx, one: Counted, mortgage: LetMortgage) -> Iterator[PnlWarning]:
    """What payments of a loan came to that its terms do not explain."""
    count = one.financing.unexplained.get(mortgage.id, 0)
    if count:
        yield PnlWarning(
            code="loan_payment_over",
            message=f"Of {count} payments of the mortgage {mortgage.id} a part is more than was due, and kept as"
            " `other`: say whether it was interest, loan_capital or something else, or correct the rate.",
        )
    loan = None if mortgage.type != "interest_only" else loans.find(tx, mortgage.id)
    days = [repaid.date for repaid in one.financing.repaid if repaid.mortgage_id == mortgage.id and repaid.amount > 0]
    if loan is not None and not all(amortising.repays_more(loan, day) for day in days):
        yield PnlWarning(
            code="interest_only_repaid",
            message=f"The mortgage {mortgage.id} is interest-only, and capital of it was repaid before its end: was it"
            " interest? A `loan_payment` that is allocated anew takes the oldest instalment that is not met.",
        )


def _of_deducted(one: Counted) -> Iterator[PnlWarning]:
    deducted = sum(line.amount for line in one.result.statement().expenses if line.category == "financialCosts")
    if deducted and one.let.restricts_finance_costs(one.source.owner, one.result.whole.last):
        yield PnlWarning(
            code="finance_costs_deducted",
            message=f"The property {one.let.id} is a dwelling that no company lets, and financialCosts are deducted:"
            " what loans for it cost is residentialFinancialCost.",
        )
