-- What kind of notice was served, and on which grounds.
ALTER TABLE tenancies ADD COLUMN notice_kind TEXT; -- NULL: nobody said
ALTER TABLE tenancies ADD COLUMN notice_grounds TEXT NOT NULL DEFAULT '[]'; -- JSON, as they were given

-- A landlord's notice ends no home: that ends when somebody has left. Nothing of the past changes with it: what had
-- ended by a notice on the day of the upgrade is taken to have ended then.
UPDATE tenancies SET end_date = last_day
WHERE end_date IS NULL AND notice_expiry_date IS NOT NULL AND cancelled_at IS NULL AND last_day < date('now')
    AND coalesce(notice_by, 'landlord') = 'landlord'
    AND type <> 'lodger' AND type <> 'company_let' AND type <> 'commercial_lease' AND type <> 'other';

-- From when on rent is unpaid is worked out anew where more of it falls due: nobody has looked at it yet.
INSERT INTO rents_received (org_id, tenancy_id, currency, amount)
SELECT org_id, id, currency, 0 FROM tenancies
WHERE last_day IS NOT NULL AND end_date IS NULL AND notice_expiry_date IS NOT NULL
    AND coalesce(notice_by, 'landlord') = 'landlord'
    AND type <> 'lodger' AND type <> 'company_let' AND type <> 'commercial_lease' AND type <> 'other'
ON CONFLICT (org_id, tenancy_id, currency) DO NOTHING;

UPDATE rents_received SET unpaid_from = ''
WHERE unpaid_from IS NULL AND EXISTS (
    SELECT 1 FROM tenancies AS t
    WHERE t.id = rents_received.tenancy_id AND t.currency = rents_received.currency AND t.cancelled_at IS NULL
        AND t.last_day IS NOT NULL AND t.end_date IS NULL AND t.notice_expiry_date IS NOT NULL
        AND coalesce(t.notice_by, 'landlord') = 'landlord'
        AND t.type <> 'lodger' AND t.type <> 'company_let' AND t.type <> 'commercial_lease' AND t.type <> 'other'
);

UPDATE tenancies SET last_day = NULL, rent_total = NULL
WHERE last_day IS NOT NULL AND end_date IS NULL AND notice_expiry_date IS NOT NULL
    AND coalesce(notice_by, 'landlord') = 'landlord'
    AND type <> 'lodger' AND type <> 'company_let' AND type <> 'commercial_lease' AND type <> 'other';

UPDATE property_units SET let_until = coalesce((
    SELECT max(coalesce(t.last_day, '9999-12-31')) FROM tenancies AS t
    WHERE t.property_id = property_units.property_id AND (t.unit_id IS NULL OR t.unit_id = property_units.id)
        AND t.org_id = property_units.org_id AND t.cancelled_at IS NULL
), '')
WHERE EXISTS (
    SELECT 1 FROM tenancies AS n
    WHERE n.org_id = property_units.org_id AND n.property_id = property_units.property_id
        AND n.last_day IS NULL AND n.notice_served_date IS NOT NULL
);
-- theirs of a tenancy: who was replaced was a tenant of it up to a day
UPDATE tenants SET lets_until = (
    SELECT max(coalesce(
        CASE WHEN t.last_day IS NULL OR l.to_date < t.last_day THEN coalesce(l.to_date, t.last_day) ELSE t.last_day END,
        '9999-12-31'
    ))
    FROM tenancy_tenants AS l
    JOIN tenancies AS t ON t.org_id = l.org_id AND t.id = l.tenancy_id AND t.cancelled_at IS NULL
    WHERE l.org_id = tenants.org_id AND l.tenant_id = tenants.id
)
WHERE EXISTS (
    SELECT 1 FROM tenancy_tenants AS m
    JOIN tenancies AS n ON n.org_id = m.org_id AND n.id = m.tenancy_id
    WHERE m.org_id = tenants.org_id AND m.tenant_id = tenants.id
        AND n.last_day IS NULL AND n.notice_served_date IS NOT NULL
);

-- What goes on under notice, for lists of it.
CREATE INDEX tenancies_noticed ON tenancies (
    org_id, notice_served_date, id, property_id, unit_id, last_day, cancelled_at
)
WHERE last_day IS NULL AND notice_served_date IS NOT NULL AND cancelled_at IS NULL;
