"""What a file of statements, trades or prices is read into, and what a reader has to be told (Domain B6, E).

A file is a run of parts: each statement is `Opened`, has its `Line`s, and is `Closed`; what could not be read stands
among them as `Refused`, and what is no transaction as `Ignored`, so that each row of the file is one of them. A CSV may
mix the lines of several accounts: a part says by `statement` which it belongs to.
"""

from typing import Final, Literal

from msgspec import Struct, field

FileKind = Literal["bank", "broker", "prices"]
"""Whose file it is, or what stands in it."""

Format = Literal["ofx", "qif", "camt053", "camt052", "camt054", "mt940", "mt942", "csv", "ibkr_flex"]

TransactionType = Literal[
    "faster_payment",
    "direct_debit",
    "standing_order",
    "card",
    "cash",
    "cheque",
    "transfer",
    "fee",
    "interest",
    "bacs",
    "chaps",
    "other",
]

TradeType = Literal[
    "buy",
    "sell",
    "transfer_in",
    "transfer_out",
    "deposit",
    "withdrawal",
    "dividend",
    "interest",
    "distribution",
    "return_of_capital",
    "fee",
    "tax",
    "split",
    "stock_dividend",
]
"""What a row of a broker's file can be (Domain B3)."""

Meaning = Literal[
    "buy",
    "sell",
    "transfer_in",
    "transfer_out",
    "deposit",
    "withdrawal",
    "dividend",
    "interest",
    "distribution",
    "return_of_capital",
    "fee",
    "tax",
    "stock_dividend",
    "excluded",
]
"""What a word of a broker's can be said to mean: a type, or that its rows are no transactions."""

IgnoredKind = Literal[
    "total", "balance", "heading", "investment", "list", "notice", "split_half", "excluded", "other_account"
]
"""What a row is that is no transaction: a total, a balance of a day, the headings once more, a transaction of
investments in a bank's file, an item of another list (QIF's categories, the positions of a Flex report), a note that a
document was made, the other half of a split that two rows tell of, or what the mapping says is none. Readers tell no
`other_account`: who knows the account that a file is imported into finds which rows are another's."""

Column = str | int
"""A column of a CSV: by its heading (case and outer spaces don't matter), or by its number from 0."""


class Mapping(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a CSV is to be read. Of a QIF `date_format`, `encoding`, `decimal_comma` and `negate` count, and no column.

    `amount` is one signed column, or an unsigned one beside `direction`; else `paid_in` and `paid_out` are given.
    """

    delimiter: str = ","
    encoding: str | None = None  # None: found out by content, of each file anew
    header_row: int | None = 0  # how many lines stand before the headings; None: there are no headings
    date: Column | None = None
    value_date: Column | None = None
    description: tuple[Column, ...] = ()  # several are joined by a space
    amount: Column | None = None
    paid_in: Column | None = None
    paid_out: Column | None = None
    balance: Column | None = None
    currency: Column | None = None
    reference: Column | None = None
    counterparty: Column | None = None
    counterparty_account: Column | None = None
    type: Column | None = None
    transaction_id: Column | None = None
    direction: Column | None = None  # CR or DR, credit or debit, in or out
    status: Column | None = None  # pending, completed, reverted ...
    fee: Column | None = None  # what the bank took besides `amount`: is subtracted from it
    original_amount: Column | None = None
    original_currency: Column | None = None
    merchant_category_code: Column | None = None
    sort_code: Column | None = None
    account_number: Column | None = None
    account_name: Column | None = None
    date_format: str | None = None  # dd/mm/yyyy, mm/dd/yyyy, yyyy-mm-dd, dd mon yyyy ...; None: found out by content
    decimal_comma: bool = False  # 1.234,56
    negate: bool = False  # of cards: what was spent is positive
    negate_balance: bool | None = None  # what is owed is a positive balance; None: as `negate`
    pence: bool = False  # whole numbers of the minor unit; of a broker's file prices alone
    # Of a broker's file. `amount`, or `paid_in` and `paid_out`, are what moved in cash; else quantity x price is.
    quantity: Column | None = None
    price: Column | None = None
    price_currency: Column | None = None
    isin: Column | None = None
    sedol: Column | None = None
    symbol: Column | None = None
    instrument: Column | None = None  # its name
    fees: tuple[Column, ...] = ()
    taxes: tuple[Column, ...] = ()  # stamp duty, levies, what was withheld
    exchange_rate: Column | None = None  # units of the price's currency for one of the account's
    ex_date: Column | None = None
    words: dict[str, Meaning] = field(default_factory=dict)  # what is said to be meant by words of `type`
    profile: str | None = None  # the bank's, where it is one of ours


class Limits(Struct, frozen=True, kw_only=True):
    """What is still read. Past it the file is `Unreadable`."""

    file_bytes: int = 256 * 1024 * 1024
    lines: int = 5_000_000  # rows of all statements together, refused ones included
    line_bytes: int = 1024 * 1024  # of one line of text, or of one element
    memory_bytes: int = 512 * 1024 * 1024  # address space of the child


PRICE_LIMITS: Final = Limits(lines=2_000_000, line_bytes=4096)
"""Of files of prices."""


class Hints(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of a file before it is read."""

    file_name: str  # for reasons alone: content decides
    kind: FileKind = "bank"
    format: Format | None = None  # None: found out by content
    mapping: Mapping | None = None  # None: a profile's, or found out where there is no doubt
    currency: str | None = None  # of what names none itself; None: then it is unreadable
    date_format: str | None = None  # as a person answered; goes before what a mapping says
    negate: bool | None = None  # the same
    is_card: bool = False  # of a card or a loan, where what is owed may be positive
    last_balance: int | None = None  # what the account's last statement ended with, in minor units
    supposes: bool = False  # what stays in doubt is read as British banks write it, and told
    limits: Limits = Limits()


class Supposed(Struct, frozen=True, kw_only=True):
    """What was not said, and is taken to be so. `field` and `value` are of `Mapping`; `reason` is for people."""

    field: str
    value: str
    reason: str


class Opened(Struct, frozen=True, kw_only=True, tag_field="part", tag="opened"):
    """A statement begins. What the file does not say, or not yet, is None. Amounts are in minor units of `currency`."""

    statement: int  # from 0
    format: Format
    profile: str | None = None
    mapping: Mapping | None = None  # of a CSV or QIF: as it was read, guesses included
    supposed: tuple[Supposed, ...] = ()
    account_name: str | None = None
    sort_code: str | None = None  # six digits
    account_number: str | None = None  # of a card the last four digits, behind asterisks
    iban: str | None = None
    bic: str | None = None
    currency: str | None = None
    holder: str | None = None
    bank_name: str | None = None
    from_date: str | None = None  # ISO, both included
    to_date: str | None = None
    opening_balance: int | None = None
    opening_date: str | None = None


class Line(Struct, frozen=True, kw_only=True, tag_field="part", tag="line", omit_defaults=True):
    """One transaction. Amounts are in minor units of their currency, dates ISO."""

    statement: int
    line: int  # from 1: the line of the file where it begins; of OFX and CAMT the ordinal of its element in the file
    booking_date: str | None  # None: pending
    amount: int  # + in, - out
    currency: str
    description: str  # spaces folded, no control characters
    raw_description: str  # as in the file
    type: TransactionType = "other"
    status: Literal["booked", "pending"] = "booked"
    value_date: str | None = None
    counterparty_name: str | None = None
    counterparty_account: str | None = None
    reference: str | None = None
    end_to_end_id: str | None = None
    bank_reference: str | None = None
    fit_id: str | None = None
    bank_transaction_code: str | None = None
    merchant_category_code: str | None = None
    balance_after: int | None = None
    original_amount: int | None = None  # signed as `amount`
    original_currency: str | None = None
    fx_rate: str | None = None  # decimal, as the file has it


class Refused(Struct, frozen=True, kw_only=True, tag_field="part", tag="refused"):
    """One transaction that could not be read. `line` counts as that of `Line`; `reason` is a sentence for people."""

    line: int
    reason: str
    statement: int | None = None  # None: it is not known of which


class Ignored(Struct, frozen=True, kw_only=True, tag_field="part", tag="ignored"):
    """One row of the file that is no transaction, and says so. `line` counts as that of `Line`."""

    line: int
    kind: IgnoredKind
    statement: int | None = None


class Closed(Struct, frozen=True, kw_only=True, tag_field="part", tag="closed"):
    """A statement ends. What is known only now is here, what `Opened` had already is repeated.

    `is_interim`: it was a report within the day, such as MT942, which holds some lines of its days and no balance.

    Of a CSV the balances are the ends of its running balance, with `adds_up` beside them.
    """

    statement: int
    lines: int  # `Line`s, pending ones included
    sum: int  # of what is booked in the statement's currency
    opening_balance: int | None = None
    closing_balance: int | None = None
    closing_date: str | None = None
    available_balance: int | None = None
    from_date: str | None = None  # else of the first and the last booked line
    to_date: str | None = None
    is_interim: bool = False
    adds_up: bool | None = None  # whether each row follows from another by the balance behind it; None: not told


class Instrument(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a file calls an instrument by."""

    isin: str | None = None
    sedol: str | None = None
    figi: str | None = None
    cusip: str | None = None
    symbol: str | None = None
    name: str | None = None


class Trade(Struct, frozen=True, kw_only=True, tag_field="part", tag="trade", omit_defaults=True):
    """One transaction of a broker's account. Nothing has a sign: the type gives the direction.

    Amounts are in minor units of `currency`, in which cash moved; quantities, prices and rates are decimals. `gross` is
    without fees and taxes; None: a split. `fx_rate` is what 1 of `currency` is in `fx_currency`.
    """

    line: int  # from 1, as that of `Line`
    type: TradeType
    date: str
    currency: str
    description: str  # as the broker has it, for people
    instrument: Instrument | None = None
    time: str | None = None
    settlement_date: str | None = None
    ex_date: str | None = None
    quantity: str | None = None
    unit_price: str | None = None
    gross: int | None = None
    fees: int = 0
    taxes: int = 0
    fx_rate: str | None = None
    fx_currency: str | None = None
    split: tuple[int, int] | None = None  # new units for old ones
    record_id: str | None = None  # the broker's own, once for each transaction of the account


class PriceLine(Struct, frozen=True, kw_only=True, tag_field="part", tag="price"):
    """One row of a file of prices. `identifier` is as it is written, `pair` the currencies where it is a pair.

    `price` is a decimal of at most 12 places, of a pair what 1 of the first is in the second; `exchange` and `currency`
    "": none given. `of_month`: HMRC's rate of a pair, which holds from `date` to the end of the month.
    """

    line: int
    date: str
    identifier: str
    pair: tuple[str, str] | None
    exchange: str
    price: str
    currency: str
    of_month: bool = False


Part = Opened | Line | Refused | Ignored | Closed | Trade | PriceLine


class Doubt(Struct, frozen=True, kw_only=True):
    """What a proposal could not settle. `field` is one of `Mapping`; `choices` are values for it, likeliest first."""

    field: str
    question: str  # a sentence for people
    choices: tuple[str, ...] = ()


class Proposal(Struct, frozen=True, kw_only=True):
    """How a CSV that no profile knows could be read. It may be read so when there are no `doubts`."""

    headings: tuple[str, ...]  # empty: the file has none
    rows: tuple[tuple[str, ...], ...]  # the first 20
    mapping: Mapping
    doubts: tuple[Doubt, ...] = ()


class Unreadable(Exception):
    """The file is no statement, or breaks a limit: nothing of it may be kept.

    `line` is where, or None; `reason` is a sentence for people. `proposal` is given where a mapping would make the
    file readable: it asks what has to be settled.
    """

    def __init__(self, line: int | None, reason: str, proposal: Proposal | None = None) -> None:
        super().__init__(reason if line is None else f"line {line}: {reason}")
        self.line = line
        self.reason = reason
        self.proposal = proposal
