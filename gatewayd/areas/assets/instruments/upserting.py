"""An instrument that a transaction or a file names: the one there is, with what is new of it, or a new one."""

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


def find_or_create(tx: WriteTx, given: InlineInstrument, path: str, currency: str) -> Instrument:
    """The instrument that `given` names, made where there is none; `path` is where it stands in the request.

    Found by isin, sedol, figi, cusip, or symbol with exchangeMic, else by symbol, else by its name in any letter case,
    where nothing known of both differs. What was not known of it is filled in; what was known stays. `currency` is
    that of a new one that is given none. Raises `Problem` `validation_failed`: check digits, identifiers that are those
    of two instruments, a ticker or name that is that of several.
    """
    errors = list(rules.identifier_mistakes(given, path))
    if all(getattr(given, name) is None for name in (*_NAMED_BY, "name")):
        errors.append(FieldError(path, "required", "Which one? Give an ISIN, another identifier or a name."))
    if errors:
        raise invalid(*errors)
    if given.symbol is not None:  # Chosen: tickers are in upper case, however they were typed
        given = replace(given, symbol=given.symbol.upper())
    found = finding.find(tx, given, path)
    if found is None:
        return instruments.add(tx, _new(tx, given, currency))
    filled = _filled(found, given)
    return found if filled == found else instruments.change(tx, found, filled)


def _new(tx: WriteTx, given: InlineInstrument, currency: str) -> Instrument:
    named = [number for name in _NAMED_BY if (number := getattr(given, name)) is not None]
    exempt = given.cgt_exempt
    return INSTRUMENTS.new(
        tx,
        given,
        name=given.name or named[0],
        currency=given.currency or currency,
        exchange_mic=given.exchange_mic if given.symbol is not None else None,
        asset_class=given.asset_class or rules.class_of(given.asset_sub_class),
        domicile_country=given.domicile_country or rules.domicile_of(given.isin),
        cgt_exempt=rules.is_exempt(given.asset_sub_class) if exempt is None else exempt,
        splits=[],
        is_active=True,
    )


def _filled(found: Instrument, given: InlineInstrument) -> Instrument:
    """The instrument with what was not known of it."""
    values = {
        name: value for name in _FILLED if getattr(found, name) is None and (value := getattr(given, name)) is not None
    }
    symbol = values.get("symbol", found.symbol)
    if found.exchange_mic is None and symbol is not None and symbol == given.symbol:
        values["exchange_mic"] = given.exchange_mic
    if found.domicile_country is None and "domicile_country" not in values:
        values["domicile_country"] = rules.domicile_of(values.get("isin", found.isin))
    if given.name is not None and found.name in {getattr(found, name) for name in _NAMED_BY}:
        values["name"] = given.name  # it had none, and was called by an identifier
    return replace(found, **values) if values else found
