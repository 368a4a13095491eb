"""What mortgages look like (Domain B4): requests, responses, and the row."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.updates import updates
from gatewayd.contract.wire import (
    Amount,
    AmountText,
    CanonicalDecimal,
    Currency,
    Date,
    DateText,
    DecimalText,
    ExternalId,
    Id,
    Name,
    Request,
    Response,
    Timestamp,
    Version,
)
from gatewayd.ledger.loans.amortising import MortgageType

RateType = Literal["fixed", "tracker", "variable", "discount", "offset"]
MortgageStatus = Literal["active", "redeemed"]

InterestRate = Annotated[DecimalText, Meta(description="Percent a year: 0 or more, less than 100.", examples=["4.79"])]
SharePercent = Annotated[DecimalText, Meta(description="Percent, from 0 to 100.", examples=["100"])]
TermMonths = Annotated[int, Meta(ge=1, le=600, examples=[300])]
MortgageNumber = Annotated[
    str,
    Meta(
        min_length=4,
        max_length=34,
        pattern="^[0-9A-Za-z*/ -]*[0-9A-Za-z]$",
        description="Of the number given, the last four characters are kept.",
        examples=["12-34 5678"],
    ),
]


class RateStep(Response, frozen=True, kw_only=True):
    """A rate, in percent a year, from a day on."""

    from_date: DateText
    interest_rate: CanonicalDecimal


class StatedBalance(Response, frozen=True, kw_only=True):
    """What was owed at the end of a day, by the lender's word. `amount` is in the mortgage's currency.

    Of the first one, `reachesBack` says that the months before it are estimated as those that lead to it. Where a
    period had been closed that would show others, it is false, and they follow from `originalAmount` as before.
    """

    date: DateText
    amount: AmountText
    reaches_back: bool = True  # rows that were written before this field have none


class Mortgage(Response, frozen=True, kw_only=True):
    """A loan on a property.

    `interestRate` is the last of `rateHistory`; after `rateEndDate` it is `reversionRate`, where that is known.
    `currentBalance` is the last of `balanceHistory`, what the lender said is owed on `balanceDate`; `estimatedBalance`
    is what is owed today when the payments since then were made. Histories have the oldest first.
    """

    id: Id
    external_id: str | None
    property_id: Id
    lender: str
    account_number_masked: str | None
    type: MortgageType
    status: MortgageStatus
    rate_type: RateType | None
    interest_rate: CanonicalDecimal
    rate_end_date: DateText | None
    reversion_rate: CanonicalDecimal | None
    rate_history: list[RateStep]
    original_amount: Amount
    start_date: DateText
    term_months: int | None
    monthly_payment: Amount | None
    current_balance: Amount | None
    balance_date: DateText | None
    balance_history: list[StatedBalance]
    estimated_balance: Amount
    erc_until_date: DateText | None
    erc_percent: CanonicalDecimal | None
    business_purpose_percent: CanonicalDecimal
    redeemed_date: DateText | None
    currency: str
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class ListMortgages(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list. `rateEndsBefore` finds those that are not redeemed, unless `status` asks for them."""

    property_id: Id | None = None
    status: MortgageStatus | None = None
    rate_ends_before: Date | None = None
    external_id: ExternalId | None = None


class CreateMortgage(Request, frozen=True, kw_only=True):
    """A new mortgage, in the currency of the property.

    `interestRate` holds from `startDate` on: one that came later is entered with updateMortgage. `ercPercent` is the
    charge for repaying early, until `ercUntilDate`.
    """

    property_id: Id
    lender: Name
    account_number_masked: MortgageNumber | None = None
    type: MortgageType
    rate_type: RateType | None = None
    interest_rate: InterestRate
    rate_end_date: Date | None = None
    reversion_rate: InterestRate | None = None
    original_amount: AmountText
    start_date: Date
    term_months: TermMonths | None = None
    monthly_payment: AmountText | None = None
    current_balance: AmountText | None = None
    balance_date: Date | None = None
    erc_until_date: Date | None = None
    erc_percent: SharePercent | None = None
    business_purpose_percent: SharePercent = "100"
    redeemed_date: Date | None = None
    currency: Currency | None = None
    external_id: ExternalId | None = None


@updates(CreateMortgage, of=Mortgage, without=("property_id", "currency"))
class UpdateMortgage(Request, frozen=True, kw_only=True):
    """The fields to change. An absent field stays, null clears.

    `interestRate` holds from `rateFromDate` on, today by default; with `startDate` it corrects the first rate.
    `currentBalance` is what the lender says is owed on `balanceDate`; null takes back what was said of that day, by
    default the last. `redeemedDate` redeems the mortgage, and null takes that back.
    """

    id: Id
    expected_version: Version | None = None
    account_number_masked: MortgageNumber | UnsetType | None = UNSET
    interest_rate: InterestRate | UnsetType = UNSET
    rate_from_date: Date | UnsetType = UNSET
    rate_end_date: Date | UnsetType | None = UNSET
    reversion_rate: InterestRate | UnsetType | None = UNSET
    current_balance: AmountText | UnsetType | None = UNSET
    balance_date: Date | UnsetType = UNSET
