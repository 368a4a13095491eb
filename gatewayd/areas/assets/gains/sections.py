"""Where the capital gains pages of a return (SA108) ask for a disposal, and in which boxes. Pure."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from gatewayd.areas.assets.books.instruments import Instrument
from gatewayd.areas.assets.gains.return_shapes import GainTotals, ReturnBox, Section
from gatewayd.money import Money

FIRST_YEAR: Final = 2019
"""The first year of the forms whose numbers these are: 2019-20."""
_CRYPTO_FIRST_YEAR: Final = 2024
_AIM: Final = "AIMX"  # the market's own code; its shares are not listed (CG50255)
_SHARES: Final = frozenset({"equity", "fund", "fixed_income"})
_LISTED: Final = frozenset({"oeic", "unit_trust"})
_UNLISTED: Final = frozenset({"private_equity"})


class Boxes(NamedTuple):
    """The numbers of a section's boxes."""

    heading: str
    disposals: str
    proceeds: str
    costs: str
    gains: str
    losses: str


_BOXES: Final[Mapping[Section, Boxes]] = {
    "cryptoassets": Boxes("Cryptoassets", "13.1", "13.2", "13.3", "13.4", "13.5"),
    "other_assets": Boxes("Other property, assets and gains", "14", "15", "16", "17", "19"),
    "listed_shares": Boxes("Listed shares and securities", "23", "24", "25", "26", "27"),
    "unlisted_shares": Boxes("Unlisted shares and securities", "31", "32", "33", "34", "35"),
}
"""SA108 (2026). Chosen: of forms from 2020 on, which have them too; cryptoassets have a section since that of 2025."""
ORDER: Final = tuple(_BOXES)


def section_of(instrument: Instrument) -> tuple[Section, bool]:
    """The section, and whether it is sure: shares count as listed where nobody said whether they are.

    Shares of companies that a recognised stock exchange lists, shares of open-ended investment companies and units of
    authorised unit trusts are listed. Chosen: so is what has an exchange, unless that is AIM.
    """
    if instrument.asset_class == "crypto" or instrument.asset_sub_class == "crypto_token":
        return "cryptoassets", True
    if instrument.asset_class not in _SHARES and instrument.asset_sub_class not in ("reit", "private_equity"):
        return "other_assets", True
    if instrument.listed is not None:
        return "listed_shares" if instrument.listed else "unlisted_shares", True
    if instrument.asset_sub_class in _UNLISTED or instrument.exchange_mic == _AIM:
        return "unlisted_shares", True
    return "listed_shares", instrument.exchange_mic is not None or instrument.asset_sub_class in _LISTED


def boxes(section: Section, totals: GainTotals) -> Iterator[ReturnBox]:
    """The boxes of a section of a year whose form is known."""
    numbers = _BOXES[section]
    told = f"SA108, {numbers.heading}"
    yield ReturnBox(
        box=numbers.disposals,
        name="Number of disposals",
        count=totals.disposals,
        amount=None,
        pounds=None,
        currency=totals.currency,
        source=told,
    )
    yield of_amount(numbers.proceeds, "Disposal proceeds", totals.proceeds, told)
    yield of_amount(numbers.costs, "Allowable costs", totals.costs, told, up=True)
    yield of_amount(numbers.gains, "Gains in the year, before losses", totals.gains, told)
    yield of_amount(numbers.losses, "Losses in the year", totals.losses, told, up=True)


def of_amount(box: str, name: str, amount: Money, source: str, *, up: bool = False) -> ReturnBox:
    """A box of money. `up`: whole pounds are rounded up, as the figure lowers the tax."""
    pounds = -(-amount.minor // 100) if up else amount.minor // 100
    return ReturnBox(
        box=box, name=name, count=None, amount=amount, pounds=pounds, currency=amount.currency, source=source
    )


def heading_of(year: str, section: Section) -> Section:
    """The section of a year's form: cryptoassets are other assets in years before they had one of their own."""
    if section == "cryptoassets" and int(year[:4]) < _CRYPTO_FIRST_YEAR:
        return "other_assets"
    return section
