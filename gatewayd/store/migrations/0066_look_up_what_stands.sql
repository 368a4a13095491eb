DROP INDEX tenancies_by_last_day;

-- Units with a tenancy that ends are found by it, and no row of a tenancy is read.
CREATE INDEX tenancies_by_last_day ON tenancies (org_id, last_day, id, property_id, unit_id);

-- What former tenants owe is read from an index alone.
CREATE INDEX tenancies_that_may_owe ON tenancies (
    org_id, id, currency, last_day, property_id, rent_total, cancelled_at
)
WHERE last_day IS NOT NULL AND cancelled_at IS NULL;

-- What was issued and superseded since a day of the past.
CREATE INDEX certificates_by_issue ON certificates (org_id, issued_date, property_id);
CREATE INDEX certificates_by_succession ON certificates (org_id, superseded_date) WHERE superseded_date IS NOT NULL;

-- What is owed on a loan when 0, 1 and more of its months have ended, 8 bytes each, the last for all that follow. Empty:
-- not computed yet, and so computed where it is asked. A migration for a change of how loans are computed empties it.
ALTER TABLE mortgages ADD COLUMN owed_by_month BLOB NOT NULL DEFAULT x'';
-- Those of which it is empty.
CREATE INDEX mortgages_to_compute ON mortgages (id) WHERE length(owed_by_month) = 0;
