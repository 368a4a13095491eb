"""What of a result is the owner's: of each property by its own owners, of the rest by the business. Reads only."""

from decimal import Decimal
from typing import NamedTuple

from gatewayd.areas.businesses.profit_and_loss import rendering
from gatewayd.areas.businesses.profit_and_loss.rendering import Form
from gatewayd.areas.businesses.profit_and_loss.shapes import OwnerShare
from gatewayd.ledger import lets, profit_and_loss, results
from gatewayd.ledger.categories import PROPERTY_TYPES
from gatewayd.ledger.profit_and_loss import Statement
from gatewayd.ledger.results import Result
from gatewayd.money import canonical
from gatewayd.store import ReadTx


class Shared(NamedTuple):
    """The owner's part. `percent`, a decimal, is None where the percentages of several things made it."""

    percent: str | None
    statement: Statement


def of_result(tx: ReadTx, result: Result, form: Form) -> Shared | None:
    """The owner's part of the whole range; None for what is no property. Raises `Problem` `currency_mismatch`."""
    if result.account.business_type not in PROPERTY_TYPES:
        return None
    own = {
        property_id: percent
        for property_id, percent in lets.own_shares(tx, result.account.business_id)
        if Decimal(percent) != Decimal(form.share_percent)
    }
    if not own:
        return Shared(form.share_percent, _part(result.statement(), form, form.share_percent))
    each = [one.statement() for one in results.compute_parts(tx, result.account, result.whole, own)]
    rest = profit_and_loss.less(result.statement(), profit_and_loss.combined(each))
    parts = [_part(one, form, percent) for one, percent in zip(each, own.values(), strict=True)]
    return Shared(None, profit_and_loss.combined([_part(rest, form, form.share_percent), *parts]))


def shown(shared: Shared | None, currency: str) -> OwnerShare | None:
    """The owner's part as it is served."""
    if shared is None:
        return None
    percent = None if shared.percent is None else canonical(shared.percent)
    return OwnerShare(percent=percent, **rendering.members(shared.statement, currency))


def _part(statement: Statement, form: Form, percent: str) -> Statement:
    numerator, denominator = (Decimal(percent) / 100).as_integer_ratio()
    shown = profit_and_loss.consolidated(statement) if form.consolidated else statement
    return profit_and_loss.share(shown, numerator, denominator)
