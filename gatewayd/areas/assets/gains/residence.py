"""Where a person was resident, as far as a year's gains follow from it. Reads only.

Residence goes by tax year. A resident is chargeable on gains wherever the assets are; who is not resident, on land
here, on what stands for land here, and on assets of a branch here alone (TCGA 1992 s1A). The figures are those of a
resident, and warnings tell what makes them others. Chosen: a year of which nobody said anything goes by the legal
entity's taxResidency.
"""

from collections.abc import Iterator
from typing import Final

from gatewayd.areas.assets.gains.shapes import GainWarning
from gatewayd.areas.assets.pools.reading import Range
from gatewayd.ledger.dates import tax_calendar
from gatewayd.ledger.taxpayers import tax_year_figures
from gatewayd.ledger.taxpayers.owners import Owner
from gatewayd.ledger.taxpayers.tax_year_figures import Residence
from gatewayd.store import ReadTx

_SELECT_RESIDENCY = "SELECT tax_residency FROM legal_entities WHERE org_id = :org_id AND id = :id"
_SELECT_DISPOSED = """
SELECT 1 FROM asset_accounts AS account
JOIN asset_days AS day ON day.org_id = :org_id AND day.scope_id = account.id AND day.disposes = 1
    AND day.date >= :first AND day.date <= :last
WHERE account.org_id = :org_id AND account.legal_entity_id = :legal_entity_id AND account.tax_wrapper = 'none'
LIMIT 1
"""
_BY_RESIDENCY: Final[dict[object, Residence]] = {
    "england_ni": "resident",
    "scotland": "resident",
    "wales": "resident",
    "non_uk": "not_resident",
}
_LONGEST_ABSENCE: Final = 5  # years that an absence has at most to be a temporary one: s1M

_UNKNOWN: Final = (
    "Nobody told whether the person was resident in the year (residence of legalEntity.setTaxYear, or taxResidency)."
    " The figures are of a resident. The Statutory Residence Test tells, by the days and ties of each tax year (FA 2013"
    " Sch. 45)."
)
_NOT_RESIDENT: Final = (
    "The person is not resident in the United Kingdom in the year, and the figures are of a resident: of others, land"
    " here, what derives 75 % of its value from land here and assets of a branch here are chargeable alone (TCGA 1992"
    " s1A(3)), and other gains in the year of return after an absence of five years or less (s1M)."
)
_SPLIT: Final = (
    "The year is a split one, and the figures are of all of it: of its overseas part, land here, what derives 75 % of"
    " its value from land here and assets of a branch here are chargeable alone (TCGA 1992 s1A(3), s1G), and others in"
    " the year of return after an absence of five years or less (s1M)."
)


def of_year(tx: ReadTx, owner: Owner, days: Range, *, disposes: bool) -> Iterator[GainWarning]:
    """The warnings of a person's residence in a tax year. `disposes`: whether anything is disposed of in it."""
    told = _Told(tx, owner)
    year = int(days.first[:4])
    of_this = told.in_year(year)
    if disposes and of_this is None:
        yield GainWarning(code="residence_unknown", message=_UNKNOWN)
    if disposes and of_this == "not_resident":
        yield GainWarning(code="not_resident", message=_NOT_RESIDENT)
    if disposes and of_this == "split":
        yield GainWarning(code="split_year", message=_SPLIT)
    if of_this in ("resident", "split"):
        yield from _return(tx, owner, told, year)


class _Told:
    """What was said of the residence of a person."""

    def __init__(self, tx: ReadTx, owner: Owner) -> None:
        self._years = tax_year_figures.of_entity(tx, owner.id)
        self._always = _BY_RESIDENCY.get(tx.value(_SELECT_RESIDENCY, id=owner.id))

    def in_year(self, year: int) -> Residence | None:
        """Of the tax year that begins in a calendar year; None: nobody said."""
        figures = self._years.get(year)
        return self._always if figures is None or figures.residence is None else figures.residence


def _return(tx: ReadTx, owner: Owner, told: _Told, year: int) -> Iterator[GainWarning]:
    """The warning that gains of an absence may be chargeable in the year of return, where anything was disposed of.

    Chosen: five whole tax years are looked back at most. With parts of split years an absence of so many may be longer
    than five years; that, and whether four of the seven years before were of residence, is left to the reader.
    """
    first = year
    while year - first <= _LONGEST_ABSENCE and told.in_year(first - 1) == "not_resident":
        first -= 1
    if not 1 <= year - first <= _LONGEST_ABSENCE or told.in_year(first - 1) not in ("resident", "split"):
        return
    leaving = first - 1 if told.in_year(first - 1) == "split" else first
    since, until = tax_calendar.bounds(tax_calendar.tax_year(leaving))[0], tax_calendar.tax_year(year - 1)
    days = {"first": since, "last": tax_calendar.bounds(until)[1]}
    if tx.row(_SELECT_DISPOSED, legal_entity_id=owner.id, **days) is not None:
        message = (
            f"The person was not resident from {tax_calendar.tax_year(first)} to {until}, and is again. Where the"
            " absence was of five years or less, and four of the seven tax years before the one of leaving were of"
            " residence, gains and losses of the absence on what was owned when leaving count in this year (TCGA 1992"
            " s1M, before 2019-20 s10A). They are not in the figures."
        )
        yield GainWarning(code="temporary_non_residence", message=message)
