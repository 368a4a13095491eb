-- Companies House counts from it: first accounts, confirmation statements. Quotes are escaped in texts, so that the
-- member before which it stands is found once.
ALTER TABLE legal_entities ADD COLUMN incorporation_date TEXT;
UPDATE legal_entities SET wire = CAST(
    replace(CAST(wire AS TEXT), ',"vatNumber":', ',"incorporationDate":null,"vatNumber":') AS BLOB
);

-- The type of quarters before the present choice, which says with what day the year of the choice begins; NULL: none.
ALTER TABLE businesses ADD COLUMN former_quarterly_period_type TEXT
    CHECK (former_quarterly_period_type IN ('standard', 'calendar'));

CREATE TABLE periods (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    legal_entity_id TEXT NOT NULL REFERENCES legal_entities (id),
    business_id TEXT REFERENCES businesses (id),        -- NULL: of the entity as a whole
    type TEXT NOT NULL CHECK (type IN ('vat_period', 'itsa_quarter', 'tax_year', 'financial_year', 'month')),
    label TEXT NOT NULL,
    tax_year TEXT,
    start_date TEXT NOT NULL,
    end_date TEXT NOT NULL CHECK (end_date >= start_date),
    cumulative INTEGER NOT NULL CHECK (cumulative IN (0, 1)),
    filing_due_date TEXT,                               -- NULL: nothing is filed for it
    status TEXT NOT NULL CHECK (status IN ('open', 'closing', 'closed')),
    locked_through_date TEXT,
    closed_at INTEGER,
    closed_by TEXT,
    forced_reason TEXT,                                 -- why it was closed with points of the checklist undone
    reopened_count INTEGER NOT NULL CHECK (reopened_count >= 0),
    reopened_reason TEXT,                               -- of the last time
    archived_at INTEGER,                                -- since when it applies no more
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    CHECK ((closed_at IS NULL) = (status <> 'closed')),
    CHECK ((locked_through_date IS NULL) = (status <> 'closed')),
    CHECK (archived_at IS NULL OR status = 'open')
) STRICT;

CREATE UNIQUE INDEX periods_key ON periods (org_id, legal_entity_id, coalesce(business_id, ''), type, end_date);
-- By end date: all of an organization, of an entity, of a business
CREATE INDEX periods_page ON periods (org_id, end_date, id);
CREATE INDEX periods_of_entity ON periods (org_id, legal_entity_id, end_date, id);
CREATE INDEX periods_of_business ON periods (org_id, business_id, end_date, id);
-- updatedSince
CREATE INDEX periods_changes ON periods (org_id, updated_at, id);

CREATE TABLE obligations (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    kind TEXT NOT NULL CHECK (kind IN (
        'vat_return', 'vat_payment', 'itsa_quarterly_update', 'itsa_final_declaration', 'self_assessment_payment',
        'payment_on_account', 'corporation_tax_return', 'corporation_tax_payment', 'annual_accounts',
        'confirmation_statement', 'cgt_property_report', 'paye', 'cis_return', 'certificate_renewal', 'custom')),
    name TEXT,                                          -- of what a person entered
    legal_entity_id TEXT NOT NULL REFERENCES legal_entities (id),
    business_id TEXT REFERENCES businesses (id),
    period_id TEXT REFERENCES periods (id),
    slot TEXT NOT NULL,             -- '' for the one of its kind and period; else what tells several apart
    period_start_date TEXT NOT NULL,
    period_end_date TEXT NOT NULL CHECK (period_end_date >= period_start_date),
    due_date TEXT NOT NULL,
    predicted_due_date TEXT,                            -- what the calendar says; NULL: it does not know of this
    status TEXT NOT NULL CHECK (status IN ('open', 'fulfilled', 'not_required')),   -- overdue depends on today
    dismissed INTEGER NOT NULL CHECK (dismissed IN (0, 1)),     -- not required because a person said so
    received_date TEXT,
    fulfilled_at INTEGER,                               -- when that was noted here
    period_key TEXT,
    source TEXT NOT NULL CHECK (source IN ('tax_authority', 'local')),
    confidence TEXT NOT NULL CHECK (confidence IN ('confirmed', 'predicted')),
    penalty TEXT,                                       -- JSON
    amount_due INTEGER,                                 -- minor units of currency
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    last_checked_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    CHECK (dismissed = 0 OR status = 'not_required'),
    CHECK ((fulfilled_at IS NULL) = (status <> 'fulfilled'))
) STRICT;

CREATE UNIQUE INDEX obligations_key
    ON obligations (org_id, legal_entity_id, coalesce(business_id, ''), kind, period_end_date, slot);
CREATE UNIQUE INDEX obligations_external_id ON obligations (org_id, external_id) WHERE external_id IS NOT NULL;
-- By due date: all of an organization, of an entity, of a business, of a kind, of a state
CREATE INDEX obligations_page ON obligations (org_id, due_date, id);
CREATE INDEX obligations_of_entity ON obligations (org_id, legal_entity_id, due_date, id);
CREATE INDEX obligations_of_business ON obligations (org_id, business_id, due_date, id);
CREATE INDEX obligations_of_kind ON obligations (org_id, kind, due_date, id);
CREATE INDEX obligations_of_status ON obligations (org_id, status, due_date, id);
-- updatedSince
CREATE INDEX obligations_changes ON obligations (org_id, updated_at, id);
-- Those of a period
CREATE INDEX obligations_of_period ON obligations (org_id, period_id, id);

CREATE TABLE obligation_events (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    obligation_id TEXT NOT NULL REFERENCES obligations (id),
    type TEXT NOT NULL CHECK (type IN (
        'confirmed', 'due_date_changed', 'fulfilled', 'reopened', 'not_required', 'required')),
    at INTEGER NOT NULL,
    noted_by TEXT,                                      -- NULL: the calendar, or the tax authority
    detail TEXT
) STRICT;

-- The history of one
CREATE INDEX obligation_events_of ON obligation_events (org_id, obligation_id, id);

-- How far the calendar of an entity was made, and by which rules: what is behind is made anew by the daemon.
CREATE TABLE calendars (
    legal_entity_id TEXT PRIMARY KEY REFERENCES legal_entities (id),
    org_id TEXT NOT NULL REFERENCES organizations (id),
    made_for TEXT NOT NULL                              -- the tax year and the edition of the rules: 2026-27.1
) STRICT;

-- A quarter of one business locks that business alone.
CREATE TABLE locks (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    legal_entity_id TEXT NOT NULL REFERENCES legal_entities (id),
    business_id TEXT REFERENCES businesses (id),        -- NULL: all that the entity keeps
    start_date TEXT NOT NULL,
    end_date TEXT NOT NULL CHECK (end_date >= start_date),
    closed_at INTEGER NOT NULL
) STRICT;
INSERT INTO locks (org_id, legal_entity_id, start_date, end_date, closed_at)
SELECT org_id, legal_entity_id, start_date, end_date, closed_at FROM period_locks;
DROP TABLE period_locks;
ALTER TABLE locks RENAME TO period_locks;
CREATE UNIQUE INDEX period_locks_key
    ON period_locks (org_id, legal_entity_id, coalesce(business_id, ''), start_date, end_date);

-- What was invoiced in a period
CREATE INDEX invoices_supplied ON invoices (org_id, legal_entity_id, supply_date);
