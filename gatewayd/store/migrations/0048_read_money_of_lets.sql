-- Allocations tell where the interest on a mortgage comes from, and are read by property, by unit, and of all lets.
ALTER TABLE allocations ADD COLUMN interest_source TEXT
    CHECK (interest_source = 'statement' OR interest_source = 'computed'); -- NULL: no interest on a mortgage
-- what came of a unit
CREATE INDEX allocations_by_unit ON allocations (org_id, unit_id, date, id, currency, direction, amount)
WHERE unit_id IS NOT NULL;
-- money of all that is let, latest first
CREATE INDEX allocations_of_lets ON allocations (org_id, date, id, property_id)
WHERE property_id IS NOT NULL;
-- profit and loss of a property by the date of the bill
CREATE INDEX allocations_of_property_by_bill ON allocations (org_id, property_id, document_date)
WHERE document_date IS NOT NULL AND property_id IS NOT NULL;
