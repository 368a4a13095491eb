-- The end of a term is no end of a tenancy that the law continues: its end is what somebody said. Nothing of the past
-- changes with it: what had ended by its term on the day of the upgrade is taken to have ended then.
UPDATE tenancies SET end_date = last_day
WHERE end_date IS NULL AND notice_expiry_date IS NULL AND cancelled_at IS NULL AND last_day < date('now')
    AND type <> 'lodger' AND type <> 'company_let' AND type <> 'other';

-- The day to look out for: the last day, else the end of a term after which the tenancy goes on.
ALTER TABLE tenancies ADD COLUMN expected_end TEXT;
UPDATE tenancies SET expected_end = last_day;

-- From when on rent is unpaid is worked out anew where more of it falls due: nobody has looked at it yet.
INSERT INTO rents_received (org_id, tenancy_id, currency, amount)
SELECT org_id, id, currency, 0 FROM tenancies WHERE true
ON CONFLICT (org_id, tenancy_id, currency) DO NOTHING;

UPDATE rents_received SET unpaid_from = ''
WHERE unpaid_from IS NULL AND EXISTS (
    SELECT 1 FROM tenancies AS t
    WHERE t.id = rents_received.tenancy_id AND t.currency = rents_received.currency AND t.cancelled_at IS NULL
        AND t.last_day IS NOT NULL AND t.end_date IS NULL AND t.notice_expiry_date IS NULL
        AND t.type <> 'lodger' AND t.type <> 'company_let' AND t.type <> 'other'
);

UPDATE tenancies SET last_day = NULL, rent_total = NULL
WHERE last_day IS NOT NULL AND end_date IS NULL AND notice_expiry_date IS NULL
    AND type <> 'lodger' AND type <> 'company_let' AND type <> 'other';

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

DROP INDEX tenancies_to_tell;
-- What `tenancy.ending` has not told of.
CREATE INDEX tenancies_to_tell ON tenancies (expected_end, id)
WHERE cancelled_at IS NULL AND (ending_told_for IS NULL OR ending_told_for <> expected_end);

-- What ends, or whose term does, for calendars.
CREATE INDEX tenancies_by_expected_end ON tenancies (org_id, expected_end, id)
WHERE expected_end IS NOT NULL AND cancelled_at IS NULL;
