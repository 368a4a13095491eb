"""Which business an invoice counts in, as a condition of SQL: for whoever lists invoices, counts them or adds them up.

The one that it names; else the only one that its legal entity has on the supply date (see `businesses.sole_on`); and a
credit note where the invoice does that it credits. As `invoiced_income` has it, which adds up profit and loss.
"""

_SOLE = """
(
    SELECT min(sole.id) FROM businesses AS sole
    WHERE sole.org_id = :org_id AND sole.legal_entity_id = {invoice}.legal_entity_id
        AND (sole.commencement_date IS NULL OR sole.commencement_date <= {invoice}.supply_date)
        AND (sole.cessation_date IS NULL OR sole.cessation_date >= {invoice}.supply_date)
        AND (sole.archived_on IS NULL OR sole.archived_on > {invoice}.supply_date)
    HAVING count(sole.id) = 1
)
""".strip()
_NAMED_OR_SOLE = f"coalesce({{invoice}}.business_id, {_SOLE})"
_OF = f"""
CASE WHEN {{invoice}}.credits_invoice_id IS NULL THEN {_NAMED_OR_SOLE} ELSE (
    SELECT {_NAMED_OR_SOLE.format(invoice="credited")} FROM invoices AS credited
    WHERE credited.org_id = :org_id AND credited.id = {{invoice}}.credits_invoice_id
) END
""".strip()


def counted_in(invoice: str) -> str:
    """The id of the business that an invoice, by the name of its table, counts in; NULL: in none."""
    return _OF.format(invoice=invoice)


def of_business(invoice: str) -> str:
    """The condition that an invoice counts in `:business_id`; where that is NULL, in any or in none."""
    return f"(CAST(:business_id AS TEXT) IS NULL OR {counted_in(invoice)} = :business_id)"
