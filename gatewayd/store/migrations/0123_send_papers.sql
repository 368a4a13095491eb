-- Who accepted or declined a quote on its page, as they named themselves; NULL: nobody did there.
ALTER TABLE quotes ADD COLUMN answered_by TEXT;

-- Mails about one thing, newest first
CREATE INDEX mails_about ON mails (org_id, about, id) WHERE about IS NOT NULL;

-- Recurring invoices may be sent too.
CREATE TABLE new_recurring_invoices (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    status TEXT NOT NULL CHECK (status IN ('active', 'paused', 'halted', 'ended')),
    client_id TEXT NOT NULL REFERENCES clients (id),
    legal_entity_id TEXT REFERENCES legal_entities (id),
    business_id TEXT,
    every INTEGER NOT NULL CHECK (every BETWEEN 1 AND 120),
    unit TEXT NOT NULL CHECK (unit IN ('week', 'month')),
    start_date TEXT NOT NULL,
    day_of_month INTEGER CHECK (day_of_month BETWEEN 1 AND 31),
    end_date TEXT,
    times INTEGER CHECK (times >= 1),
    makes TEXT NOT NULL CHECK (makes IN ('draft', 'issued', 'sent')),
    next_date TEXT,                             -- the next day that is due; NULL: ended
    next_index INTEGER NOT NULL CHECK (next_index >= 0), -- how many days of the rhythm are behind it
    made_count INTEGER NOT NULL CHECK (made_count >= 0),
    charged TEXT,                               -- JSON: VAT code and rate of each line; NULL: what holds next time
    payment_terms_days INTEGER,
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    amounts_are TEXT NOT NULL CHECK (amounts_are IN ('exclusive', 'inclusive', 'no_vat')),
    vat_rounding TEXT NOT NULL CHECK (vat_rounding IN ('line', 'total', 'total_down')),
    discount_amount INTEGER NOT NULL CHECK (discount_amount >= 0),
    reference TEXT,
    po_number TEXT,
    notes TEXT,
    terms TEXT,
    bank_account_id TEXT,
    property_id TEXT,
    lines TEXT NOT NULL,                        -- JSON array
    halted_code TEXT,
    halted_reason TEXT,
    halted_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    CHECK ((status = 'ended') = (next_date IS NULL)),
    CHECK ((status = 'halted') = (halted_reason IS NOT NULL))
) STRICT;
INSERT INTO new_recurring_invoices (
    id, org_id, external_id, status, client_id, legal_entity_id, business_id, every, unit, start_date,
    day_of_month, end_date, times, makes, next_date, next_index, made_count, charged, payment_terms_days, currency,
    amounts_are, vat_rounding, discount_amount, reference, po_number, notes, terms, bank_account_id, property_id,
    lines, halted_code, halted_reason, halted_at, created_at, updated_at, version
)
SELECT
    id, org_id, external_id, status, client_id, legal_entity_id, business_id, every, unit, start_date,
    day_of_month, end_date, times, makes, next_date, next_index, made_count, charged, payment_terms_days, currency,
    amounts_are, vat_rounding, discount_amount, reference, po_number, notes, terms, bank_account_id, property_id,
    lines, halted_code, halted_reason, halted_at, created_at, updated_at, version
FROM recurring_invoices;
DROP TABLE recurring_invoices;
ALTER TABLE new_recurring_invoices RENAME TO recurring_invoices;

CREATE UNIQUE INDEX recurring_invoices_external_id ON recurring_invoices (org_id, external_id)
    WHERE external_id IS NOT NULL;
-- accounting.listRecurring newest first
CREATE INDEX recurring_invoices_page ON recurring_invoices (org_id, id, status, client_id);
-- and in the order of change
CREATE INDEX recurring_invoices_changes ON recurring_invoices (org_id, updated_at, id);
-- What is due, of all organizations
CREATE INDEX recurring_invoices_due ON recurring_invoices (next_date, org_id, id) WHERE status = 'active';
