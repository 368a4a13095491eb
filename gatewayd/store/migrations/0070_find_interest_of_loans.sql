-- Interest that was entered for a loan, by day: what a payment bears depends on all of it.
CREATE INDEX allocations_of_loans ON allocations (
    org_id, mortgage_id, date, interest_source, currency, direction, amount
) WHERE interest_source IS NOT NULL;
