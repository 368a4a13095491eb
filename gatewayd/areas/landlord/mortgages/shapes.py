"""What mortgages look like (Domain B4): requests, responses, and the row."""

from typing import Annotated, ClassVar, Literal

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

InterestRate = Annotated[DecimalText, Meta(examples=["4.79"])]
SharePercent = Annotated[DecimalText, Meta(examples=["100"])]
TermMonths = Annotated[int, Meta(ge=1, le=600, examples=[300])]
MortgageNumber = Annotated[
    str,
    Meta(
        min_length=4,
        max_length=34,
        pattern="^[0-9A-Za-z*/ -]*[0-9A-Za-z]$",
        extra={"form": "letters, digits, spaces, dashes, slashes or asterisks, the last a letter or digit"},
        description="Of the number given, the last four characters are kept.",
        examples=["12-34 5678"],
    ),
]


class RateStep(Response, frozen=True, kw_only=True):
    """A rate, from a day on."""

    from_date: DateText
    """The first day of the rate."""
    interest_rate: CanonicalDecimal
    """The rate, percent a year."""


class StatedBalance(Response, frozen=True, kw_only=True):
    """What was owed at the end of a day, by the lender's word."""

    date: DateText
    """The day at whose end it was owed."""
    amount: AmountText
    """What was owed, in the mortgage's currency."""
    reaches_back: bool = True  # rows that were written before this field have none
    """Whether the months before the first balance are estimated as those that lead to it. False: they follow from
    `originalAmount`, since a closed period would show others."""


class Mortgage(Response, frozen=True, kw_only=True):
    """A loan on a property."""

    id: Id
    external_id: str | None
    property_id: Id
    """The property that it is secured on; a loan over several properties is a mortgage of each."""
    lender: str
    """Who lent the money."""
    account_number_masked: str | None
    """The lender's account number as stars and its last four characters. Null: not entered."""
    type: MortgageType
    """`repayment`: each payment repays capital; `interest_only`: payments are interest alone; `part_and_part`:
    `monthlyPayment` repays a part."""
    status: MortgageStatus
    """`redeemed` from `redeemedDate` on; `active` before."""
    rate_type: RateType | None
    """How the lender sets the rate. Null: not entered."""
    interest_rate: CanonicalDecimal
    """The rate that was agreed last, percent a year: 0 or more, less than 100."""
    rate_end_date: DateText | None
    """The last day of `interestRate`. Null: none is known."""
    reversion_rate: CanonicalDecimal | None
    """The rate after `rateEndDate`, percent a year: 0 or more, less than 100. Null: not known, and `interestRate` is
    reckoned with from then on too."""
    rate_history: list[RateStep]
    """All rates since `startDate`, the oldest first."""
    original_amount: Amount
    """What was lent, in `currency`."""
    start_date: DateText
    """The day on which it began; it is paid on that day of each month, for the first time a month later."""
    term_months: int | None
    """For how many months from `startDate` it was lent. Null: not entered."""
    monthly_payment: Amount | None
    """What is paid each month, interest and capital. Null: not entered; a `repayment` loan is reckoned with what repays
    it by the end of `termMonths`, any other as if nothing were repaid."""
    current_balance: Amount | None
    """What the lender last said was owed, in `currency`. Null: nothing was told."""
    balance_date: DateText | None
    """The day at whose end `currentBalance` was owed. Null: nothing was told."""
    balance_history: list[StatedBalance]
    """All balances that the lender told, the oldest first."""
    estimated_balance: Amount
    """What is owed today, in `currency`: the last balance that was told, or `originalAmount`, less the capital that
    monthly payments have repaid since, if all were made. 0.00 from `redeemedDate` on."""
    erc_until_date: DateText | None
    """The last day on which to repay early costs a charge. Null: not entered."""
    erc_percent: CanonicalDecimal | None
    """The charge for repaying early, in percent of what is repaid, from 0 to 100. Null: not entered."""
    business_purpose_percent: CanonicalDecimal
    """How much of the interest is for the business, in percent from 0 to 100: the rest, drawn for other ends, is
    entered as disallowable."""
    redeemed_date: DateText | None
    """The day on which it is repaid whole; payments of that day still count. Null: it goes on."""
    currency: str
    """The property's currency."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class ListMortgages(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    former_names: ClassVar = {"rateEndsBefore": "rateEndDateBefore"}

    property_id: Id | None = None
    business_id: Id | None = None
    """Only those of this business's properties."""
    legal_entity_id: Id | None = None
    """Only those of the properties of this legal entity's businesses."""
    status: MortgageStatus | None = None
    """Only those in this state today."""
    type: MortgageType | None = None
    rate_type: RateType | None = None
    rate_end_date_before: Date | None = None
    """Only those whose rate ends before this day, the soonest first; redeemed ones are left out unless `status` asks
    for them."""
    external_id: ExternalId | None = None


class GetMortgage(Request, frozen=True, kw_only=True):
    """Which mortgage."""

    id: Id


class CreateMortgage(Request, frozen=True, kw_only=True):
    """A new mortgage, in the currency of the property."""

    property_id: Id
    lender: Name
    account_number_masked: MortgageNumber | None = None
    type: MortgageType
    rate_type: RateType | None = None
    interest_rate: InterestRate
    """The rate, percent a year: 0 or more, less than 100. Of a new mortgage it holds from `startDate` on; one that came
    later is entered with `landlord.updateMortgage`."""
    rate_end_date: Date | None = None
    reversion_rate: InterestRate | None = None
    original_amount: AmountText
    start_date: Date
    term_months: TermMonths | None = None
    monthly_payment: AmountText | None = None
    current_balance: AmountText | None = None
    """What the lender says is owed at the end of `balanceDate`, which it needs."""
    balance_date: Date | None = None
    """The day at whose end `currentBalance` is owed, not one to come."""
    erc_until_date: Date | None = None
    erc_percent: SharePercent | None = None
    business_purpose_percent: SharePercent = "100"
    redeemed_date: Date | None = None
    currency: Currency | None = None
    """The property's currency, by default; another one is refused."""
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
    """The first day of `interestRate`, not one to come. Left out: today."""
    rate_end_date: Date | UnsetType | None = UNSET
    reversion_rate: InterestRate | UnsetType | None = UNSET
    current_balance: AmountText | UnsetType | None = UNSET
    balance_date: Date | UnsetType = UNSET
