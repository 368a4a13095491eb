-- Made from the migration of SQLite by `make generate`.

-- Invoices that are made again and again, and each day on which one was made.
CREATE TABLE recurring_invoices (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    external_id text COLLATE "C",
    status text COLLATE "C" NOT NULL CHECK (status IN ('active', 'paused', 'halted', 'ended')),
    client_id text COLLATE "C" NOT NULL,
    legal_entity_id text COLLATE "C",
    business_id text COLLATE "C",
    every bigint NOT NULL CHECK (every BETWEEN 1 AND 120),
    unit text COLLATE "C" NOT NULL CHECK (unit IN ('week', 'month')),
    start_date text COLLATE "C" NOT NULL,
    day_of_month bigint CHECK (day_of_month BETWEEN 1 AND 31),
    end_date text COLLATE "C",
    times bigint CHECK (times >= 1),
    makes text COLLATE "C" NOT NULL CHECK (makes IN ('draft', 'issued')),
    next_date text COLLATE "C",                             -- the next day that is due; NULL: ended
    next_index bigint NOT NULL CHECK (next_index >= 0), -- how many days of the rhythm are behind it
    made_count bigint NOT NULL CHECK (made_count >= 0),
    charged text COLLATE "C",                               -- JSON: VAT code and rate of each line; NULL: what holds next time
    payment_terms_days bigint,
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    amounts_are text COLLATE "C" NOT NULL CHECK (amounts_are IN ('exclusive', 'inclusive', 'no_vat')),
    vat_rounding text COLLATE "C" NOT NULL CHECK (vat_rounding IN ('line', 'total', 'total_down')),
    discount_amount bigint NOT NULL CHECK (discount_amount >= 0),
    reference text COLLATE "C",
    po_number text COLLATE "C",
    notes text COLLATE "C",
    terms text COLLATE "C",
    bank_account_id text COLLATE "C",
    property_id text COLLATE "C",
    lines text COLLATE "C" NOT NULL,                        -- JSON array
    halted_code text COLLATE "C",
    halted_reason text COLLATE "C",
    halted_at bigint,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1),
    CHECK ((status = 'ended') = (next_date IS NULL)),
    CHECK ((status = 'halted') = (halted_reason IS NOT NULL))
);

CREATE UNIQUE INDEX recurring_invoices_external_id ON recurring_invoices (org_id, external_id)
    WHERE external_id IS NOT NULL;

-- accounting.listRecurring newest first
CREATE INDEX recurring_invoices_page ON recurring_invoices (org_id, id, status, client_id);

-- and in the order of change
CREATE INDEX recurring_invoices_changes ON recurring_invoices (org_id, updated_at, id);

-- What is due, of all organizations
CREATE INDEX recurring_invoices_due ON recurring_invoices (next_date, org_id, id) WHERE status = 'active';

-- Each day once for ever, also where the draft that it made was deleted.
CREATE TABLE recurring_days (
    org_id text COLLATE "C" NOT NULL,
    recurring_id text COLLATE "C" NOT NULL,
    date text COLLATE "C" NOT NULL,
    invoice_id text COLLATE "C",                            -- NULL: somebody chose to leave it out
    created_at bigint NOT NULL,
    PRIMARY KEY (org_id, recurring_id, date)
);

ALTER TABLE invoices ADD COLUMN recurring_id text COLLATE "C" REFERENCES recurring_invoices (id);

-- accounting.listInvoices by recurringId
CREATE INDEX invoices_of_recurring ON invoices (org_id, recurring_id, id) WHERE recurring_id IS NOT NULL;

ALTER TABLE recurring_invoices ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE recurring_invoices ADD FOREIGN KEY (client_id) REFERENCES clients (id);

ALTER TABLE recurring_invoices ADD FOREIGN KEY (legal_entity_id) REFERENCES legal_entities (id);

ALTER TABLE recurring_days ADD FOREIGN KEY (recurring_id) REFERENCES recurring_invoices (id);
