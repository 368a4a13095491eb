-- Whether a former tenant owes rent (Domain C3): what is settled is passed over without its row.
CREATE INDEX tenancies_settled ON tenancies (org_id, last_day, id, currency, rent_total)
WHERE rent_total IS NOT NULL AND cancelled_at IS NULL;

-- The tenancies that go on, however many have ended.
CREATE INDEX tenancies_going_on ON tenancies (org_id, start_date) WHERE last_day IS NULL AND cancelled_at IS NULL;

-- What is held of tenants (Domain C3): few tenancies have a deposit.
CREATE INDEX tenancies_with_deposit ON tenancies (org_id, start_date) WHERE deposit_amount IS NOT NULL;
