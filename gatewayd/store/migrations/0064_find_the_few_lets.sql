-- From when on rent is unpaid: who is in arrears on a day is found by it. Empty where it is not worked out yet, and so
-- looked at. Former tenants who paid all are passed over at once.
ALTER TABLE rents_received ADD COLUMN unpaid_from TEXT; -- NULL: never, or of another currency than the tenancy's

INSERT INTO rents_received (org_id, tenancy_id, currency, amount)
SELECT org_id, id, currency, 0 FROM tenancies WHERE true
ON CONFLICT (org_id, tenancy_id, currency) DO NOTHING;

UPDATE rents_received SET unpaid_from = ''
WHERE EXISTS (
    SELECT 1 FROM tenancies AS t
    WHERE t.id = rents_received.tenancy_id AND t.currency = rents_received.currency AND t.cancelled_at IS NULL
        AND (t.rent_total IS NULL OR t.rent_total > rents_received.amount)
);

DROP INDEX tenancies_settled;

-- Who is in arrears on a day (Domain C3).
CREATE INDEX rents_received_unpaid ON rents_received (org_id, unpaid_from, tenancy_id, currency, amount)
WHERE unpaid_from IS NOT NULL;

-- The last rent of a tenancy, which is that of almost every day that asks. Amounts have all digits of their currency.
ALTER TABLE tenancies ADD COLUMN last_rent INTEGER;
ALTER TABLE tenancies ADD COLUMN last_rent_from TEXT;
UPDATE tenancies SET
    last_rent = CAST(replace(json_extract(rent_history, '$[#-1].amount'), '.', '') AS INTEGER),
    last_rent_from = json_extract(rent_history, '$[#-1].fromDate');

-- Until when a unit is let and a tenant has a tenancy, as far as is known: the many that a list does not ask for are
-- passed over. '9999-12-31' where a tenancy goes on; empty for a unit and NULL for a tenant where there is none.
ALTER TABLE property_units ADD COLUMN let_until TEXT NOT NULL DEFAULT '';
ALTER TABLE tenants ADD COLUMN lets_until TEXT;
UPDATE property_units SET let_until = coalesce((
    SELECT max(coalesce(t.last_day, '9999-12-31')) FROM tenancies AS t
    WHERE t.property_id = property_units.property_id AND (t.unit_id IS NULL OR t.unit_id = property_units.id)
        AND t.org_id = property_units.org_id AND t.cancelled_at IS NULL
), '');
UPDATE tenants SET lets_until = (
    SELECT max(coalesce(t.last_day, '9999-12-31')) FROM tenancy_tenants AS l
    JOIN tenancies AS t ON t.org_id = l.org_id AND t.id = l.tenancy_id AND t.cancelled_at IS NULL
    WHERE l.org_id = tenants.org_id AND l.tenant_id = tenants.id
);

-- Whether a property may lack a certificate: 0 where it does not, as far as what is stored says; else it is looked at.
-- A migration that changes what the law asks for sets it to 1.
ALTER TABLE properties ADD COLUMN may_lack INTEGER NOT NULL DEFAULT 1 CHECK (may_lack = 0 OR may_lack = 1);

DROP INDEX tenancies_by_id;
DROP INDEX tenancies_occupying;
DROP INDEX tenancies_with_deposit;

-- Pages of units that are let, and that are not, newest first.
CREATE INDEX property_units_let ON property_units (org_id, id) WHERE let_until = '9999-12-31';
CREATE INDEX property_units_not_let ON property_units (org_id, id) WHERE let_until < '9999-12-31';

-- Pages of current, past and prospective tenants, newest first.
CREATE INDEX tenants_staying ON tenants (org_id, id) WHERE lets_until = '9999-12-31';
CREATE INDEX tenants_leaving ON tenants (org_id, id) WHERE lets_until < '9999-12-31';
CREATE INDEX tenants_never_let ON tenants (org_id, id) WHERE lets_until IS NULL;

-- Pages of certificates that are missing, by property.
CREATE INDEX properties_lacking ON properties (org_id, id) WHERE may_lack = 1;

-- Pages of tenancies that have ended, and of those that ran on a day.
CREATE INDEX tenancies_with_an_end ON tenancies (org_id, id, last_day) WHERE last_day IS NOT NULL AND cancelled_at IS NULL;
CREATE INDEX tenancies_by_id ON tenancies (org_id, id, start_date, last_day, cancelled_at);

-- Whether a unit is let, without a row of a tenancy.
CREATE INDEX tenancies_occupying ON tenancies (
    org_id, property_id, start_date, unit_id, last_day, notice_served_date, cancelled_at
) WHERE cancelled_at IS NULL;

-- Deposits that were not given back, and those that were after a day (Domain C3).
CREATE INDEX tenancies_with_deposit_held ON tenancies (org_id, start_date)
WHERE deposit_amount IS NOT NULL AND deposit_returned_date IS NULL;

-- Deposits that were given back after a day.
CREATE INDEX tenancies_by_deposit_return ON tenancies (org_id, deposit_returned_date)
WHERE deposit_returned_date IS NOT NULL;
