-- Rent that was written off: found among all that was allocated, so that it is left out of the sums of money.
CREATE INDEX allocations_written_off ON allocations (org_id, purpose, business_id, property_id, tenancy_id)
WHERE purpose = 'rent_written_off';
