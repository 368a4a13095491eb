-- How often the last rent is due: by law a longer period of an assured tenancy became a month on 2026-05-01.
ALTER TABLE tenancies ADD COLUMN last_rent_frequency TEXT;
UPDATE tenancies SET last_rent_frequency = rent_frequency;

-- What follows from the rent of those is worked out anew, where it is looked at: it had been counted as it was agreed.
UPDATE tenancies SET rent_total = NULL, last_rent_from = '9999-12-31'
WHERE (type = 'assured_shorthold' OR type = 'assured_periodic')
    AND (rent_frequency = 'quarterly' OR rent_frequency = 'annually')
    AND start_date < '2026-05-01' AND (last_day IS NULL OR last_day >= '2026-05-01');

UPDATE rents_received SET unpaid_from = ''
WHERE EXISTS (
    SELECT 1 FROM tenancies AS t
    WHERE t.id = rents_received.tenancy_id AND t.currency = rents_received.currency AND t.cancelled_at IS NULL
        AND t.last_rent_from = '9999-12-31'
);
