"""Of which type a business's quarters are in each tax year (Domain 0.1, C6). Owns the table `quarter_choices`.

A choice holds from the tax year in which it was made until the next one: what is chosen later changes no year before.
"""

from collections.abc import Mapping
from typing import NamedTuple

from gatewayd.ledger.dates.income_tax import QuarterType
from gatewayd.store import ReadTx, WriteTx

_SELECT_OF_BUSINESS = """
SELECT first_year, type FROM quarter_choices
WHERE org_id = :org_id AND business_id = :business_id ORDER BY first_year
"""
_SELECT_OF_ENTITY = """
SELECT choices.business_id, choices.first_year, choices.type FROM quarter_choices AS choices
JOIN businesses ON businesses.org_id = choices.org_id AND businesses.id = choices.business_id
WHERE choices.org_id = :org_id AND businesses.legal_entity_id = :legal_entity_id
ORDER BY choices.business_id, choices.first_year
"""
_DELETE_FROM = """
DELETE FROM quarter_choices WHERE org_id = :org_id AND business_id = :business_id AND first_year >= :first_year
"""
_INSERT = """
INSERT INTO quarter_choices (org_id, business_id, first_year, type) VALUES (:org_id, :business_id, :first_year, :type)
"""


class Choice(NamedTuple):
    """A type that holds from a tax year on, by the calendar year it begins in; 0: nobody knows since when."""

    first_year: int
    type: QuarterType


class QuarterChoices(NamedTuple):
    """Every choice of a business, oldest first."""

    choices: tuple[Choice, ...] = ()

    def type_in(self, year: int) -> QuarterType:
        """The type in a tax year. Before the first choice it is standard, as HMRC has it."""
        made = [choice.type for choice in self.choices if choice.first_year <= year]
        return made[-1] if made else "standard"


def of_business(tx: ReadTx, business_id: str) -> QuarterChoices:
    """The choices of a business."""
    return QuarterChoices(tuple(Choice(*row) for row in tx.rows(_SELECT_OF_BUSINESS, business_id=business_id)))


def of_entity(tx: ReadTx, legal_entity_id: str) -> Mapping[str, QuarterChoices]:
    """By business of a legal entity; who never chose is not there."""
    by_business: dict[str, list[Choice]] = {}
    for business_id, first_year, kind in tx.rows(_SELECT_OF_ENTITY, legal_entity_id=legal_entity_id):
        by_business.setdefault(business_id, []).append(Choice(first_year, kind))
    return {business_id: QuarterChoices(tuple(choices)) for business_id, choices in by_business.items()}


def note(tx: WriteTx, business_id: str, choice: Choice) -> None:
    """Note the latest choice. The same type again corrects the year of the one before."""
    last = of_business(tx, business_id).choices[-1:]
    corrected = [earlier.first_year for earlier in last if earlier.type == choice.type]
    tx.run(_DELETE_FROM, business_id=business_id, first_year=min([choice.first_year, *corrected]))
    tx.run(_INSERT, business_id=business_id, **choice._asdict())
