"""An instrument that a transaction or a file names: found and completed, or made."""

from typing import Final

from msgspec.structs import replace

from gatewayd.areas.assets.books import instruments
from gatewayd.areas.assets.books.instruments import INSTRUMENTS, Instrument
from gatewayd.areas.assets.instruments import finding, rules
from gatewayd.areas.assets.instruments.shapes import InlineInstrument
from gatewayd.errors import FieldError, invalid
from gatewayd.store import WriteTx

_NAMED_BY: Final = ("isin", "sedol", "figi", "cusip", "symbol")
_FILLED: Final = (*rules.IDENTIFIERS, "symbol", "asset_sub_class", "domicile_country", "reporting_fund", "listed")


def find_or_create(tx: WriteTx, wanted: InlineInstrument, path: str, currency: str) -> Instrument:
    """The instrument that `wanted` names, made where there is none; `path` is where it stands in the request.

    Found by isin, sedol, figi, cusip, or symbol with exchangeMic, else by symbol, else by its name in any letter case,
    where nothing known of both differs. What was not known of it is filled in; what was known stays. `currency` is
    that of a new one that is given none. Raises `Problem` `validation_failed`: check digits, identifiers that are those
    of two instruments, a ticker or name that is that of several.
    """
    errors = list(rules.identifier_mistakes(wanted, path))
    if all(getattr(wanted, name) is None for name in (*_NAMED_BY, "name")):
        errors.append(FieldError(path, "required", "Which one? Give an ISIN, another identifier or a name."))
    if errors:
        raise invalid(*errors)
    if wanted.symbol is not None:  # Chosen: tickers are in upper case, however they were typed
        wanted = replace(wanted, symbol=wanted.symbol.upper())
    instrument = finding.find(tx, wanted, path)
    if instrument is None:
        return instruments.add(tx, _new_instrument(tx, wanted, currency))
    filled = _filled(instrument, wanted)
    return instrument if filled == instrument else instruments.change(tx, instrument, filled)


def _new_instrument(tx: WriteTx, wanted: InlineInstrument, currency: str) -> Instrument:
    named = [number for name in _NAMED_BY if (number := getattr(wanted, name)) is not None]
    exempt = wanted.cgt_exempt
    return INSTRUMENTS.new(
        tx,
        wanted,
        name=wanted.name or named[0],
        currency=wanted.currency or currency,
        exchange_mic=wanted.exchange_mic if wanted.symbol is not None else None,
        asset_class=wanted.asset_class or rules.class_of(wanted.asset_sub_class),
        domicile_country=wanted.domicile_country or rules.domicile_of(wanted.isin),
        cgt_exempt=rules.is_exempt(wanted.asset_sub_class) if exempt is None else exempt,
        splits=[],
        is_active=True,
    )


def _filled(instrument: Instrument, wanted: InlineInstrument) -> Instrument:
    """The instrument with what was not known of it."""
    values = {
        name: value
        for name in _FILLED
        if getattr(instrument, name) is None and (value := getattr(wanted, name)) is not None
    }
    symbol = values.get("symbol", instrument.symbol)
    if instrument.exchange_mic is None and symbol is not None and symbol == wanted.symbol:
        values["exchange_mic"] = wanted.exchange_mic
    if instrument.domicile_country is None and "domicile_country" not in values:
        values["domicile_country"] = rules.domicile_of(values.get("isin", instrument.isin))
    if wanted.name is not None and instrument.name in {getattr(instrument, name) for name in _NAMED_BY}:
        values["name"] = wanted.name  # it had none, and was called by an identifier
    return replace(instrument, **values) if values else instrument
