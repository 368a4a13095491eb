-- While a period is being closed, its days take only what says that it overrides that.
ALTER TABLE period_locks ADD COLUMN closing INTEGER NOT NULL DEFAULT 0 CHECK (closing IN (0, 1));
DROP INDEX period_locks_key;
CREATE UNIQUE INDEX period_locks_key
    ON period_locks (org_id, legal_entity_id, coalesce(business_id, ''), start_date, end_date, closing);
INSERT INTO period_locks (org_id, legal_entity_id, business_id, start_date, end_date, closed_at, closing)
SELECT org_id, legal_entity_id, business_id, start_date, end_date, max(updated_at), 1 FROM periods
WHERE status = 'closing' GROUP BY org_id, legal_entity_id, business_id, start_date, end_date;

-- An import is gone on with after a kill, so that it keeps what its caller said.
ALTER TABLE import_runs ADD COLUMN overrides_closing INTEGER NOT NULL DEFAULT 0 CHECK (overrides_closing IN (0, 1));

DROP INDEX periods_page;
DROP INDEX periods_of_entity;
-- By end date: all of an organization, and of an entity. Months are passed over without a look at their rows.
CREATE INDEX periods_page ON periods (org_id, end_date, id, type);
CREATE INDEX periods_of_entity ON periods (org_id, legal_entity_id, end_date, id, type);
