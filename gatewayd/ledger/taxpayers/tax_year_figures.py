"""What somebody's Income Tax return of a year came to, as they say. Owns the table `tax_year_figures`.

It decides what is asked of later years: quarterly updates (Domain C6), and payments on account. Where they were
resident in it decides which of its gains are chargeable (Domain C5).
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from gatewayd.store import ReadTx, WriteTx

Residence = Literal["resident", "not_resident", "split"]

_SELECT = """
SELECT first_year, qualifying_income, tax_assessed, tax_deducted, is_exempt, residence FROM tax_year_figures
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id ORDER BY first_year
"""
_PUT = """
INSERT INTO tax_year_figures (
    org_id, legal_entity_id, first_year, qualifying_income, tax_assessed, tax_deducted, is_exempt, residence,
    updated_at
) VALUES (
    :org_id, :legal_entity_id, :first_year, :qualifying_income, :tax_assessed, :tax_deducted, :is_exempt, :residence,
    :now
)
ON CONFLICT (org_id, legal_entity_id, first_year) DO UPDATE SET qualifying_income = excluded.qualifying_income,
    tax_assessed = excluded.tax_assessed, tax_deducted = excluded.tax_deducted, is_exempt = excluded.is_exempt,
    residence = excluded.residence, updated_at = excluded.updated_at
"""


class TaxYearFigures(NamedTuple):
    """Of a tax year, by the calendar year it begins in; amounts are pence, None where nobody said.

    `qualifying_income` is that of self-employment and property before expenses, `tax_assessed` what was assessed of
    Income Tax and class 4, `tax_deducted` what of it was deducted at source. `is_exempt`: from quarterly updates.
    `residence` is that in the United Kingdom; split: resident, with an overseas part (FA 2013 Sch. 45).
    """

    first_year: int
    qualifying_income: int | None = None
    tax_assessed: int | None = None
    tax_deducted: int | None = None
    is_exempt: bool = False
    residence: Residence | None = None


def of_entity(tx: ReadTx, legal_entity_id: str) -> Mapping[int, TaxYearFigures]:
    """The figures of a legal entity, by the calendar year in which each tax year begins."""
    rows = tx.rows(_SELECT, legal_entity_id=legal_entity_id)
    all_figures = (TaxYearFigures(*row) for row in rows)
    return {figures.first_year: figures._replace(is_exempt=bool(figures.is_exempt)) for figures in all_figures}


def put(tx: WriteTx, legal_entity_id: str, figures: TaxYearFigures) -> None:
    """Keep the figures of a tax year in the place of what there was."""
    values = {**figures._asdict(), "is_exempt": int(figures.is_exempt)}
    tx.run(_PUT, legal_entity_id=legal_entity_id, **values)
    tx.changed("tax_year_figures", legal_entity_id, None, legal_entity_id)
