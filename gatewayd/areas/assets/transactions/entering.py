"""Transactions on their way into the books: checked against accounts and instruments, then stored.

What they make of holdings is computed by whoever stored them, once for all of them (`pools.recording`).
"""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from gatewayd.areas.assets.books.accounts import ACCOUNTS, AssetAccountRow
from gatewayd.areas.assets.books.instruments import INSTRUMENTS, Instrument, is_british
from gatewayd.areas.assets.books.portfolios import PORTFOLIOS, Portfolio
from gatewayd.areas.assets.books.transactions import TRANSACTIONS, AssetTransaction, TransactionSource
from gatewayd.areas.assets.instruments.upserting import find_or_create
from gatewayd.areas.assets.transactions import amounts, rules
from gatewayd.areas.assets.transactions.amounts import Rate
from gatewayd.areas.assets.transactions.shapes import CreateTransaction
from gatewayd.errors import FieldError, Problem, invalid, invalid_state
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.exchange import exchange_rates
from gatewayd.ledger.exchange.exchange_rates import Pair
from gatewayd.ledger.references import unknown_reference
from gatewayd.ledger.taxpayers import owners
from gatewayd.money import Money, canonical
from gatewayd.store import ReadTx, WriteTx

_OF_BOTH_HALVES = (
    *("instrument_id", "trade_date", "settlement_date", "trade_time", "quantity", "unit_price", "gross_amount"),
    *(
        "currency",
        "fx_rate",
        "fx_rate_source",
        "fx_rate_date",
        "base_currency",
        "gross_base",
        "spouse_transfer",
        "source",
        "import_id",
        "notes",
    ),
)
"""What both halves of a transfer have."""


class Place(NamedTuple):
    """Where a transaction happens."""

    account: AssetAccountRow
    portfolio: Portfolio


class Origin(NamedTuple):
    """Where transactions come from. `import_id` None: from no import."""

    source: TransactionSource
    import_id: str | None = None


class _Subject(NamedTuple):
    """What a request names: where it happens, where its other half does, and what it is about."""

    place: Place | None
    counter: Place | None
    instrument: Instrument | None


def store(tx: WriteTx, request: CreateTransaction, origin: Origin) -> list[AssetTransaction]:
    """Check and store a transaction that is no reversal, and the other half of a transfer behind it.

    Raises `Problem` as `check` does, and `already_exists`.
    """
    return [TRANSACTIONS.insert(tx, row) for row in check(tx, request, origin)]


def check(tx: WriteTx, request: CreateTransaction, origin: Origin) -> list[AssetTransaction]:
    """What `store` would store. An instrument that the request names and that is new is stored.

    Raises `Problem`: `validation_failed` with every field that is wrong, `invalid_state` for an account that is closed
    or a portfolio that is archived, `amount_mismatch`, `period_closed`.
    """
    errors = list(rules.field_errors(request, tx.today))
    subject, unknown = _subject(tx, request)
    errors += unknown
    rate = _rate(tx, request, subject)
    if subject.place is not None and rate is not None:
        errors += _errors_of_places(tx, request, subject)
        errors += _money_errors(request, rate)
    if errors:
        raise invalid(*errors)
    assert subject.place is not None
    assert rate is not None
    places = [place for place in (subject.place, subject.counter) if place is not None]
    refuse_places(tx, places, request.trade_date.isoformat())
    amounts.refuse_mismatch(request, rate.currency)
    return _transaction_rows(tx, request, subject, rate, origin)


def refuse_places(tx: ReadTx, places: list[Place], date: str) -> None:
    """Raises `Problem` where nothing can be entered: `invalid_state`, or `period_closed` on that ISO date."""
    for account, portfolio in places:
        if portfolio.archived_at is not None:
            message = "The portfolio is archived: bring it back first, by `status` of `assets.updatePortfolio`."
            raise invalid_state(message, "archived", ("active",))
        if account.status == "closed":
            message = f"The account {account.name} is closed: open it first, by `status` of `assets.updateAccount`."
            raise invalid_state(message, "closed", ("open",))
    for legal_entity_id in dict.fromkeys(account.legal_entity_id for account, _ in places):
        period_locks.refuse_closed(tx, legal_entity_id, date)


def place_of(tx: ReadTx, account_id: str) -> Place | None:
    """An account with its portfolio; None where the organization has no such account."""
    account = ACCOUNTS.find(tx, account_id)
    return None if account is None else Place(account, PORTFOLIOS.get(tx, account.portfolio_id))


# -- parts


def _subject(tx: WriteTx, request: CreateTransaction) -> tuple[_Subject, list[FieldError]]:
    """What the request names, and an error for each that there is not."""
    errors: list[FieldError] = []
    place, counter = place_of(tx, request.account_id), None
    if place is None:
        errors.append(unknown_reference("accountId", "asset_account"))
    if request.counter_account_id is not None:
        counter = place_of(tx, request.counter_account_id)
        if counter is None:
            errors.append(unknown_reference("counterAccountId", "asset_account"))
    if request.from_instrument_id is not None and INSTRUMENTS.find(tx, request.from_instrument_id) is None:
        errors.append(unknown_reference("fromInstrumentId", "instrument"))
    instrument = None
    if request.instrument_id is not None:
        instrument = INSTRUMENTS.find(tx, request.instrument_id)
        if instrument is None:
            errors.append(unknown_reference("instrumentId", "instrument"))
    elif request.instrument is not None and place is not None:
        try:
            currency = request.currency or place.account.currency
            instrument = find_or_create(tx, request.instrument, "instrument", currency)
        except Problem as problem:
            if not problem.errors:
                raise
            errors += problem.errors
    if instrument is not None and instrument.id == request.from_instrument_id:
        message = "It is the new instrument itself: expected the one that it took the place of."
        errors.append(FieldError("fromInstrumentId", "conflict", message))
    return _Subject(place, counter, instrument), errors


def _rate(tx: ReadTx, request: CreateTransaction, subject: _Subject) -> Rate | None:
    """The currency of the amounts, and its rate. What has no rate of its own takes one that is known of its day.

    Without any amount it is the base currency, in which nothing is counted.
    """
    if subject.place is None:
        return None
    account, portfolio = subject.place
    if not rules.has_amount(request):
        return Rate(portfolio.base_currency, portfolio.base_currency, "1")
    quoted = account.currency if subject.instrument is None else subject.instrument.currency
    pair = Pair(request.currency or quoted, portfolio.base_currency)
    if pair.currency == pair.base_currency:
        return Rate(*pair, "1")
    if request.fx_rate is not None:
        return Rate(*pair, request.fx_rate, "given")
    known = exchange_rates.for_day(tx, pair, request.trade_date.isoformat())
    return Rate(*pair, "1") if known is None else Rate(*pair, known.text, known.source, known.date)


def _money_errors(request: CreateTransaction, rate: Rate) -> Iterator[FieldError]:
    if rules.has_amount(request):
        yield from amounts.rate_errors(request, rate)
        yield from amounts.amount_errors(request, rate)


def _errors_of_places(tx: ReadTx, request: CreateTransaction, subject: _Subject) -> Iterator[FieldError]:
    """What the accounts do not take."""
    assert subject.place is not None
    for path, place in (("type", subject.place), ("counterAccountId", subject.counter)):
        if place is not None and _is_refused(place.account, request):
            message = f"The account {place.account.name} tracks holdings: it takes balances, not {request.type}."
            yield FieldError(path, "conflict", message)
    if request.spouse_transfer and request.type in rules.TRANSFERS:
        owner = owners.find(tx, subject.place.account.legal_entity_id)
        if owner is None or not owner.is_person:
            yield FieldError("spouseTransfer", "conflict", "The account is no person's.")
    if subject.counter is not None:
        yield from _transfer_errors(tx, request, subject.place, subject.counter)


def _taxed_as_dividend(request: CreateTransaction, instrument: Instrument | None) -> bool | None:
    """Whether a stock dividend is taxed: as told, else that of British companies (ITTOIA 2005 s410); None: unknown."""
    if request.type != "stock_dividend" or instrument is None or request.taxed_as_dividend is not None:
        return request.taxed_as_dividend
    return is_british(instrument.domicile_country, instrument.currency) or None


def _is_refused(account: AssetAccountRow, request: CreateTransaction) -> bool:
    return account.tracking_mode == "holdings" and request.type not in rules.OF_HOLDINGS


def _transaction_rows(
    tx: WriteTx, request: CreateTransaction, subject: _Subject, rate: Rate, origin: Origin
) -> list[AssetTransaction]:
    assert subject.place is not None
    account, portfolio = subject.place
    come_to = amounts.amounts(request, rate)
    row = TRANSACTIONS.new(
        tx,
        request,
        portfolio_id=portfolio.id,
        legal_entity_id=account.legal_entity_id,
        instrument_id=None if subject.instrument is None else subject.instrument.id,
        gross_amount=come_to.gross,
        fees=come_to.fees,
        taxes=come_to.taxes,
        net_amount=come_to.net,
        currency=rate.currency,
        fx_rate=canonical(rate.fx_rate),
        fx_rate_source=rate.source,
        fx_rate_date=rate.date,
        base_currency=rate.base_currency,
        gross_base=come_to.gross_base,
        remaining_value=come_to.remaining,
        taxed_as_dividend=_taxed_as_dividend(request, subject.instrument),
        source=origin.source,
        import_id=origin.import_id,
    )
    if subject.counter is None:
        return [row]
    return _transfer_pair(tx, row, subject.counter)


# -- transfers between two accounts that are kept here (Domain B3, C5)
#
# Between accounts of one person without a wrapper nothing is disposed of; into and out of a wrapper something is, at
# what it is worth; to a spouse it goes at cost. Of anybody else each side is entered by itself.


def _transfer_errors(tx: ReadTx, request: CreateTransaction, place: Place, counter: Place) -> Iterator[FieldError]:
    """Why nothing can be transferred between these two accounts."""
    here, there = place.account, counter.account
    if here.id == there.id:
        yield FieldError("counterAccountId", "conflict", "It is the account itself: expected another one.")
        return
    if place.portfolio.base_currency != counter.portfolio.base_currency:
        # Chosen: a cost would need a rate of its own on the way
        message = f"Its portfolio is in {counter.portfolio.base_currency}, and not in {place.portfolio.base_currency}."
        yield FieldError("counterAccountId", "currency_mismatch", message)
    if here.legal_entity_id != there.legal_entity_id:
        yield from _errors_of_spouses(tx, request, here, there)
        return
    if request.spouse_transfer:
        yield FieldError("spouseTransfer", "conflict", "Both accounts are of the same person: leave this out.")
    is_worth_told = request.gross_amount is not None or request.unit_price is not None
    if here.is_pooled != there.is_pooled and not is_worth_told:
        message = "This field is required: into and out of a wrapper it is disposed of, at what worth?"
        yield FieldError("grossAmount", "required", message)


def _transfer_pair(tx: WriteTx, row: AssetTransaction, counter: Place) -> list[AssetTransaction]:
    """The row that was asked for, and the other half of it, which has no costs and no `externalId`."""
    nothing = Money(0, row.currency)
    half = TRANSACTIONS.new(
        tx,
        None,
        **{name: getattr(row, name) for name in _OF_BOTH_HALVES},
        account_id=counter.account.id,
        portfolio_id=counter.portfolio.id,
        legal_entity_id=counter.account.legal_entity_id,
        type="transfer_in" if row.type == "transfer_out" else "transfer_out",
        fees=nothing,
        taxes=nothing,
        net_amount=nothing,
        counter_account_id=row.account_id,
        linked_transaction_id=row.id,
    )
    return [replace(row, linked_transaction_id=half.id), half]


def _errors_of_spouses(
    tx: ReadTx, request: CreateTransaction, here: AssetAccountRow, there: AssetAccountRow
) -> Iterator[FieldError]:
    """Why nothing goes at cost between two legal entities: only spouses may do so (TCGA 1992 s58)."""
    if not request.spouse_transfer:
        message = (
            "It is somebody else's account. To a spouse it goes with spouseTransfer; else enter each side by itself."
        )
        yield FieldError("counterAccountId", "conflict", message)
        return
    other = owners.find(tx, there.legal_entity_id)
    if other is None or not other.is_person:
        yield FieldError("counterAccountId", "conflict", "The account is no person's.")
    if not (here.is_pooled and there.is_pooled):
        message = "What is in a wrapper cannot be given away: it leaves the wrapper first, at what it is worth."
        yield FieldError("counterAccountId", "conflict", message)
