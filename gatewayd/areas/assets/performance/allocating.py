"""Of what positions and cash consist on a day: by class, currency and country (Domain C11). Reads only."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gatewayd.areas.assets.performance.shapes import AssetAllocation, AssetAllocationPart
from gatewayd.areas.assets.pools.cash import balances_on
from gatewayd.areas.assets.pools.held import Whose
from gatewayd.areas.assets.positions import building, totals
from gatewayd.areas.assets.positions.choosing import Choice
from gatewayd.areas.assets.positions.shapes import Position
from gatewayd.areas.assets.positions.valuing import money_of, text_of
from gatewayd.money import Money, exponent
from gatewayd.store import ReadTx

_PERCENT_PLACES = 2
_SELECT_COUNTRY = "SELECT domicile_country FROM instruments WHERE org_id = :org_id AND id = :id"


class _Piece(NamedTuple):
    """A position, or the cash of a currency. `minor` None: it has no price or rate."""

    asset_class: str
    currency: str
    country: str | None
    minor: int | None
    is_position: bool


def allocate(tx: ReadTx, choice: Choice, base: str, accounts: Sequence[str]) -> AssetAllocation:
    """What there is at the end of the day of a choice, whose accounts are in one base currency."""
    built = building.build(tx, choice)
    pieces = [
        _Piece(
            asset_class=built.quoted[one.instrument_id].asset_class,
            currency=one.instrument.currency,
            country=tx.value(_SELECT_COUNTRY, id=one.instrument_id),
            minor=None if one.market_value_base is None else one.market_value_base.minor,
            is_position=True,
        )
        for one in _in_base(built.positions, base)
    ]
    cash, unconverted = [], []
    for one in _balances(tx, choice, accounts):
        rate = built.valuing.rate(one.currency, base)
        if rate is None:
            unconverted.append(one.currency)
            continue
        minor, one_major = one.minor * rate.rate.numerator, 10 ** exponent(one.currency) * rate.rate.denominator
        cash.append(_Piece("cash", one.currency, None, money_of(minor, one_major, base).minor, False))
    every = [*pieces, *cash]
    return AssetAllocation(
        as_of_date=choice.date,
        currency=base,
        totals=totals.of_positions(built.positions, base),
        allocated=Money(sum(one.minor or 0 for one in every), base),
        cash=Money(sum(one.minor or 0 for one in cash), base),
        unconverted_cash=unconverted,
        by_asset_class=list(_parts(every, "asset_class", base)),
        by_currency=list(_parts(every, "currency", base)),
        by_country=list(_parts(pieces, "country", base)),
    )


def _in_base(positions: Sequence[Position], base: str) -> Iterator[Position]:
    return (one for one in positions if one.base_currency == base)


def _balances(tx: ReadTx, choice: Choice, accounts: Sequence[str]) -> list[Money]:
    found: Counter[str] = Counter()
    for account_id in accounts:
        whose = Whose(choice.whose.legal_entity_id, account_id=account_id)
        for one in balances_on(tx, whose, choice.date):
            found[one.currency] += one.minor
    return [Money(minor, currency) for currency, minor in sorted(found.items()) if minor]


def _parts(pieces: Sequence[_Piece], name: str, base: str) -> Iterator[AssetAllocationPart]:
    """The largest first."""
    whole = sum(one.minor or 0 for one in pieces)
    found: dict[str | None, list[_Piece]] = {}
    for one in pieces:
        found.setdefault(getattr(one, name), []).append(one)
    parts = {key: sum(one.minor or 0 for one in of_key) for key, of_key in found.items()}
    for key in sorted(parts, key=lambda one: (-parts[one], one or "")):
        positions = [one for one in found[key] if one.is_position]
        yield AssetAllocationPart(
            key=key,
            value=Money(parts[key], base),
            percent=text_of(parts[key] * 100, whole, _PERCENT_PLACES) if whole > 0 else None,
            positions=len(positions),
            unpriced_positions=sum(one.minor is None for one in positions),
            currency=base,
        )
