-- The civil date in London on which a business was archived: statements compare days, and an instant is none.
ALTER TABLE businesses ADD COLUMN archived_on TEXT;

-- Summer time goes from one o'clock UTC on the last Sunday of March to the same hour on that of October.
UPDATE businesses SET archived_on = strftime('%Y-%m-%d', archived_at / 1000000 + CASE
    WHEN datetime(archived_at / 1000000, 'unixepoch')
            >= datetime(archived_at / 1000000, 'unixepoch', 'start of year', '+2 months', '+24 days', 'weekday 0', '+1 hour')
        AND datetime(archived_at / 1000000, 'unixepoch')
            < datetime(archived_at / 1000000, 'unixepoch', 'start of year', '+9 months', '+24 days', 'weekday 0', '+1 hour')
    THEN 3600 ELSE 0 END, 'unixepoch')
WHERE archived_at IS NOT NULL;
