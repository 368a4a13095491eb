"""The rules that the fields of a portfolio follow. Pure."""

from collections.abc import Iterator

from gatewayd.areas.assets.portfolios.shapes import CostBasisMethod, Portfolio
from gatewayd.errors import FieldError
from gatewayd.ledger.references import unknown_reference
from gatewayd.ledger.taxpayers.owners import Owner

POOL_CURRENCY = "GBP"  # decision 0022


def default_method(owner: Owner | None, base_currency: str) -> CostBasisMethod:
    """The cost basis where none is asked for (Domain B3): that of the gains of whoever is taxed here on them."""
    pools = owner is not None and owner.has_pools and owner.country_code == "GB"
    return "section_104" if pools and base_currency == POOL_CURRENCY else "average_cost"


def owner_mistakes(owner: Owner | None) -> Iterator[FieldError]:
    """What is wrong with the legal entity of a new portfolio; None: there is no such one."""
    if owner is None:
        yield unknown_reference("legalEntityId", "legal_entity")
    elif owner.archived:
        yield FieldError("legalEntityId", "conflict", "The legal entity is archived.")


def method_mistakes(owner: Owner | None, row: Portfolio) -> Iterator[FieldError]:
    """What is wrong with section_104: companies have other rules, and pools are kept in pounds."""
    if row.cost_basis_method != "section_104" or owner is None:
        return
    if not owner.has_pools:
        kind = owner.type.replace("_", " ")
        yield FieldError("costBasisMethod", "conflict", f"Section 104 holdings are of persons, and not of a {kind}.")
    elif row.base_currency != POOL_CURRENCY:
        message = f"Section 104 holdings are kept in GBP, and the portfolio in {row.base_currency}."
        yield FieldError("costBasisMethod", "conflict", message)


def default_mistakes(row: Portfolio) -> Iterator[FieldError]:
    """What is wrong with `isDefault`."""
    if row.is_default and row.archived_at is not None:
        yield FieldError("isDefault", "conflict", "The portfolio is archived.")
