-- Capital goods, whose VAT is outside a flat rate, when they are bought and when they are sold.
ALTER TABLE allocations ADD COLUMN capital_goods INTEGER NOT NULL DEFAULT 0 CHECK (capital_goods IN (0, 1));
ALTER TABLE invoice_lines ADD COLUMN capital_goods INTEGER NOT NULL DEFAULT 0 CHECK (capital_goods IN (0, 1));
DROP INDEX allocations_by_money;
DROP INDEX allocations_by_bill;
-- profit and loss of a business by the date of the money; a VAT return, which sums by code
CREATE INDEX allocations_by_money ON allocations (
    org_id, business_id, date, id, document_date, category, direction, currency, amount, vat_amount,
    disallowable_amount, document_ids, vat_code, capital_goods
);
-- the same by the date of the bill
CREATE INDEX allocations_by_bill ON allocations (
    org_id, business_id, document_date, category, direction, currency, amount, vat_amount, disallowable_amount,
    document_ids, vat_code, capital_goods
) WHERE document_date IS NOT NULL;
