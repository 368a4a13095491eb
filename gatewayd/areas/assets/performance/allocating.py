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
    """Of what positions and cash consist at the end of the day; all accounts of the choice are in one base currency."""
    built = building.build(tx, choice)
    pieces = [
        _Piece(
            asset_class=built.quoted[position.instrument_id].asset_class,
            currency=position.instrument.currency,
            country=tx.value(_SELECT_COUNTRY, id=position.instrument_id),
            minor=None if position.market_value_base is None else position.market_value_base.minor,
            is_position=True,
        )
        for position in _in_base(built.positions, base)
    ]
    cash, unconverted = [], []
    for balance in _balances(tx, choice, accounts):
        rate = built.valuing.rate(balance.currency, base)
        if rate is None:
            unconverted.append(balance.currency)
            continue
        minor, one_major = balance.minor * rate.rate.numerator, 10 ** exponent(balance.currency) * rate.rate.denominator
        cash.append(_Piece("cash", balance.currency, None, money_of(minor, one_major, base).minor, False))
    every = [*pieces, *cash]
    return AssetAllocation(
        as_of_date=choice.date,
        currency=base,
        totals=totals.of_positions(built.positions, base),
        allocated=Money(sum(piece.minor or 0 for piece in every), base),
        cash=Money(sum(piece.minor or 0 for piece in cash), base),
        unconverted_cash=unconverted,
        by_asset_class=list(_allocation_parts(every, "asset_class", base)),
        by_currency=list(_allocation_parts(every, "currency", base)),
        by_country=list(_allocation_parts(pieces, "country", base)),
    )


def _in_base(positions: Sequence[Position], base: str) -> Iterator[Position]:
    return (position for position in positions if position.base_currency == base)


def _balances(tx: ReadTx, choice: Choice, accounts: Sequence[str]) -> list[Money]:
    by_currency: Counter[str] = Counter()
    for account_id in accounts:
        whose = Whose(choice.whose.legal_entity_id, account_id=account_id)
        for balance in balances_on(tx, whose, choice.date):
            by_currency[balance.currency] += balance.minor
    return [Money(minor, currency) for currency, minor in sorted(by_currency.items()) if minor]


def _allocation_parts(pieces: Sequence[_Piece], name: str, base: str) -> Iterator[AssetAllocationPart]:
    """The parts by one field of the pieces, the largest first."""
    total = sum(piece.minor or 0 for piece in pieces)
    by_key: dict[str | None, list[_Piece]] = {}
    for piece in pieces:
        by_key.setdefault(getattr(piece, name), []).append(piece)
    parts = {key: sum(piece.minor or 0 for piece in of_key) for key, of_key in by_key.items()}
    for key in sorted(parts, key=lambda part_key: (-parts[part_key], part_key or "")):
        positions = [piece for piece in by_key[key] if piece.is_position]
        yield AssetAllocationPart(
            key=key,
            value=Money(parts[key], base),
            percent=text_of(parts[key] * 100, total, _PERCENT_PLACES) if total > 0 else None,
            positions=len(positions),
            unpriced_positions=sum(piece.minor is None for piece in positions),
            currency=base,
        )
