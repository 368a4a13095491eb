-- Allocations name the VAT code of what was bought or sold, and the key of another system.
ALTER TABLE allocations ADD COLUMN vat_code TEXT; -- NULL: nobody said
ALTER TABLE allocations ADD COLUMN external_id TEXT;
CREATE UNIQUE INDEX allocations_by_external_id ON allocations (org_id, external_id) WHERE external_id IS NOT NULL;
DROP INDEX allocations_by_money;
DROP INDEX allocations_by_bill;
-- profit and loss of a business by the date of the money; a VAT return, which sums by code
CREATE INDEX allocations_by_money ON allocations (
    org_id, business_id, date, id, document_date, category, direction, currency, amount, vat_amount,
    disallowable_amount, document_ids, vat_code
);
-- the same by the date of the bill
CREATE INDEX allocations_by_bill ON allocations (
    org_id, business_id, document_date, category, direction, currency, amount, vat_amount, disallowable_amount,
    document_ids, vat_code
) WHERE document_date IS NOT NULL;
