"""The property pages of a tax return (Domain C2): its operation."""

from collections.abc import Iterator
from typing import Final

from gatewayd.areas.landlord.finance_costs import books
from gatewayd.areas.landlord.finance_costs.books import CURRENCY, FromBooks
from gatewayd.areas.landlord.tax_returns import boxes
from gatewayd.areas.landlord.tax_returns.boxes import ALLOWANCE, OfYear
from gatewayd.areas.landlord.tax_returns.shapes import GetPropertyTaxReturn, PropertyReturnBox, PropertyTaxReturn
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.errors import FieldError, invalid, invalid_field
from gatewayd.ledger.calendar import report_ranges
from gatewayd.ledger.references import unknown_reference
from gatewayd.ledger.results.report_shapes import PnlWarning
from gatewayd.ledger.taxpayers import owners
from gatewayd.money import Money, to_minor
from gatewayd.store import ReadTx

_FIRST_YEAR: Final = "2020-21"  # Chosen: since then no finance costs of dwellings are deducted
_GIVEN: Final = {
    "privateUseAdjustment": ("private_use_adjustment", "30"),
    "balancingCharges": ("balancing_charges", "31"),
    "annualInvestmentAllowance": ("annual_investment_allowance", "32"),
    "otherCapitalAllowances": ("other_capital_allowances", "35"),
    "rentARoomExemption": ("rent_a_room_exemption", "37"),
    "financeCostsBroughtForward": ("finance_costs_brought_forward", "45"),
    "lossesBroughtForward": ("losses_brought_forward", ""),
}
_NOTHING: Final = FromBooks(0, 0, [])


def get_property_tax_return(tx: ReadTx, caller: Caller, request: GetPropertyTaxReturn) -> PropertyTaxReturn:
    """Get the figures of a person's property pages, SA105, for a tax year.

    They are the person's own part of property in the United Kingdom, by box, with what no books say as it is given.
    Costs of replaced domestic items are box 36, and residential finance costs box 44. The property income allowance
    is taken where it is claimed; `warnings` tell where it covers all or would leave less to tax.
    """
    whole = report_ranges.of_tax_year(request.tax_year)
    if request.tax_year < _FIRST_YEAR:
        raise invalid_field("taxYear", "out_of_range", f"The boxes are those of returns since {_FIRST_YEAR}.")
    owner = owners.find(tx, request.legal_entity_id)
    if owner is None:
        raise invalid(unknown_reference("legalEntityId", "legal_entity"))
    if not owner.is_person:
        raise invalid_field("legalEntityId", "conflict", "SA105 is of persons: others have returns of their own.")
    year = _of_year(request)
    found = books.of_person(tx, owner.id, whole)
    own = found.get("uk_property", _NOTHING)
    claimed = request.claim_property_income_allowance
    filled = boxes.filled(own.statement, year, allowance=claimed)
    return PropertyTaxReturn(
        legal_entity_id=owner.id,
        tax_year=request.tax_year,
        form="SA105",
        currency=CURRENCY,
        traditional_accounting=own.on_accruals,
        boxes=[
            PropertyReturnBox(box=box, name=name, amount=Money(filled[box], CURRENCY))
            for box, name in boxes.NAMES.items()
        ],
        warnings=[*own.warnings, *_told(found, year, claimed=claimed)],
    )


def _of_year(request: GetPropertyTaxReturn) -> OfYear:
    """What the request says of the year. Raises `Problem` `validation_failed`."""
    found: dict[str, int] = {}
    errors: list[FieldError] = []
    for path, (name, box) in _GIVEN.items():
        try:
            found[box] = to_minor(getattr(request, name), CURRENCY)
        except ValueError as error:
            errors.append(FieldError(path, "invalid_decimal", f"{error}."))
            continue
        if found[box] < 0:
            errors.append(FieldError(path, "out_of_range", "It is not below zero."))
    if errors:
        raise invalid(*errors)
    return OfYear(found, found.pop(""))


def _told(found: dict[str, FromBooks], year: OfYear, *, claimed: bool) -> Iterator[PnlWarning]:
    own = found.get("uk_property", _NOTHING)
    if len(found) > 1:
        message = "Property abroad is on pages of its own, SA106, and the property income allowance is one for both."
        yield PnlWarning(code="foreign_property_apart", message=message)
    lodgers = any(line.category == boxes.LODGERS and line.amount for line in own.statement.income)
    costly_lodgers = lodgers and not year.boxes["37"]
    if costly_lodgers:
        message = "There are rents of lodgers, and nobody said what of them is exempt: give rentARoomExemption."
        yield PnlWarning(code="rent_a_room_exemption_unknown", message=message)
    plain = boxes.filled(own.statement, year, allowance=False)
    excluded = bool(plain["44"] or plain["45"]) or costly_lodgers
    if claimed and excluded:
        message = (
            "The property income allowance is not there for who takes relief for finance costs, or deducts what lodgers"
            " cost (ITTOIA 2005 s783BL, s783BM)."
        )
        yield PnlWarning(code="property_allowance_excluded", message=message)
    if claimed or excluded:
        return
    if 0 < boxes.relievable(own.statement) <= ALLOWANCE:
        message = "The property income allowance covers all of the income: nothing is taxed, unless a loss is claimed."
        yield PnlWarning(code="property_allowance_covers_all", message=message)
    elif boxes.filled(own.statement, year, allowance=True)["38"] < plain["38"]:
        message = (
            "The property income allowance of 1,000 would leave less to tax: claimPropertyIncomeAllowance takes it."
        )
        yield PnlWarning(code="property_allowance_better", message=message)


OPERATIONS = (
    Operation(
        id="landlord.getPropertyTaxReturn",
        kind="read",
        method="GET",
        path="/landlord/getPropertyTaxReturn",
        scopes=("accounting:read",),
        request=GetPropertyTaxReturn,
        response=PropertyTaxReturn,
        handler=get_property_tax_return,
        errors=("currency_mismatch",),
        long=True,
        extension=True,
        example={"legalEntityId": "ent_01k0000000000000000000000a", "taxYear": "2026-27"},
    ),
)
