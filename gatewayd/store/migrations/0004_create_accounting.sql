-- Closed ranges of days, both ends inclusive (ledger/period_locks.py). The key serves every query.
CREATE TABLE period_locks (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    legal_entity_id TEXT NOT NULL REFERENCES legal_entities (id),
    start_date TEXT NOT NULL,
    end_date TEXT NOT NULL CHECK (end_date >= start_date),
    closed_at INTEGER NOT NULL,
    PRIMARY KEY (org_id, legal_entity_id, start_date, end_date)
) STRICT, WITHOUT ROWID;

CREATE TABLE clients (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    name TEXT NOT NULL,
    name_folded TEXT NOT NULL,                  -- case-folded, single spaces: what duplicates are found by
    kind TEXT NOT NULL CHECK (kind IN ('company', 'person', 'public_body')),
    contact_name TEXT,
    email TEXT,
    cc_emails TEXT NOT NULL,                    -- JSON array
    phone TEXT,
    billing_address TEXT,                       -- JSON
    company_number TEXT,
    vat_number TEXT,                            -- GB: digits alone; elsewhere with the country's letters
    vat_check_valid INTEGER CHECK (vat_check_valid IN (0, 1)),
    vat_checked_at INTEGER,
    vat_check_consultation TEXT,
    country_code TEXT NOT NULL CHECK (length(country_code) = 2),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    payment_terms_days INTEGER NOT NULL CHECK (payment_terms_days BETWEEN 0 AND 365),
    default_vat_treatment TEXT,
    cis_contractor INTEGER NOT NULL CHECK (cis_contractor IN (0, 1)),
    end_user INTEGER NOT NULL CHECK (end_user IN (0, 1)),
    language TEXT NOT NULL,
    notes TEXT,
    archived_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    search_text TEXT NOT NULL,                  -- names, address of email and numbers, case-folded
    wire BLOB NOT NULL                          -- the JSON without balances and the closing brace
) STRICT;

-- Newest first; q and archived are decided inside the index
CREATE INDEX clients_page ON clients (org_id, id, archived_at, search_text);
-- updatedSince
CREATE INDEX clients_changes ON clients (org_id, updated_at, id);
-- possible_duplicate
CREATE INDEX clients_names ON clients (org_id, name_folded);
CREATE INDEX clients_vat_numbers ON clients (org_id, vat_number) WHERE vat_number IS NOT NULL;
CREATE INDEX clients_company_numbers ON clients (org_id, company_number) WHERE company_number IS NOT NULL;
CREATE UNIQUE INDEX clients_external_id ON clients (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE TABLE invoices (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    -- What a page reads comes first: SQLite finds early columns sooner
    open_due_date TEXT,                         -- the due date where money is still due
    head_length INTEGER NOT NULL,               -- bytes of wire before its lines
    wire BLOB NOT NULL,                         -- the JSON, lines last, without isOverdue and the closing brace
    external_id TEXT,
    kind TEXT NOT NULL CHECK (kind IN ('invoice', 'credit_note')),
    -- OR, not IN: for a list of three or more SQLite fills a table at every insert, a fifth of what the insert costs
    origin TEXT NOT NULL CHECK (origin = 'system' OR origin = 'imported' OR origin = 'extracted'),
    status TEXT NOT NULL CHECK (
        status = 'draft' OR status = 'issued' OR status = 'sent' OR status = 'part_paid' OR status = 'paid'
        OR status = 'void'
    ),
    number TEXT CHECK ((number IS NULL) = (status = 'draft')),
    seller_key TEXT NOT NULL,                   -- the legal entity, or the organization that sells itself
    legal_entity_id TEXT REFERENCES legal_entities (id),
    business_id TEXT,
    client_id TEXT NOT NULL REFERENCES clients (id),
    credits_invoice_id TEXT REFERENCES invoices (id),
    client_snapshot TEXT,                       -- JSON, NULL while draft
    seller_snapshot TEXT,                       -- JSON, NULL while draft
    issue_date TEXT NOT NULL,
    supply_date TEXT NOT NULL,
    due_date TEXT NOT NULL CHECK (due_date >= issue_date),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    base_currency TEXT NOT NULL CHECK (length(base_currency) = 3),
    fx_rate TEXT,                               -- units of the base currency for one of the invoice's
    amounts_are TEXT NOT NULL CHECK (
        amounts_are = 'exclusive' OR amounts_are = 'inclusive' OR amounts_are = 'no_vat'
    ),
    vat_rounding TEXT NOT NULL CHECK (vat_rounding = 'line' OR vat_rounding = 'total' OR vat_rounding = 'total_down'),
    net_total INTEGER NOT NULL,
    vat_total INTEGER NOT NULL,
    gross_total INTEGER NOT NULL CHECK (gross_total = net_total + vat_total AND gross_total >= 0),
    discount_amount INTEGER NOT NULL CHECK (discount_amount >= 0),
    discount_total INTEGER NOT NULL,
    reverse_charge_vat INTEGER NOT NULL,
    vat_total_base INTEGER,                     -- minor units of the base currency
    vat_summary TEXT NOT NULL,                  -- JSON array
    cis_deduction INTEGER NOT NULL CHECK (cis_deduction >= 0),
    cis_rate INTEGER CHECK (cis_rate = 0 OR cis_rate = 20 OR cis_rate = 30),
    paid_total INTEGER NOT NULL CHECK (paid_total >= 0),
    credited_total INTEGER NOT NULL,
    balance_due INTEGER NOT NULL,
    reference TEXT,
    po_number TEXT,
    notes TEXT,
    terms TEXT,
    bank_account_id TEXT,
    property_id TEXT,
    sent_at INTEGER,
    viewed_at INTEGER,
    paid_date TEXT,
    voided_at INTEGER,
    void_reason TEXT,
    pdf_document_id TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    search_text TEXT NOT NULL,                  -- number and reference, case-folded
    -- Kept, not generated: an index that holds a generated column never covers a query
    CHECK (
        open_due_date IS CASE
            WHEN (status = 'issued' OR status = 'sent' OR status = 'part_paid') AND balance_due > 0 THEN due_date
        END
    ),
    CHECK (head_length > 0 AND head_length < length(wire)),
    CHECK ((kind = 'credit_note') = (credits_invoice_id IS NOT NULL))
) STRICT;

-- Newest first; q, currency and businessId are decided inside the index
CREATE INDEX invoices_page ON invoices (org_id, id, currency, business_id, search_text);
-- updatedSince
CREATE INDEX invoices_changes ON invoices (org_id, updated_at, id);
-- status, one branch of a merge for each; overdue is decided inside the index
CREATE INDEX invoices_states ON invoices (org_id, status, id, open_due_date);
-- clientId
CREATE INDEX invoices_of_client ON invoices (org_id, client_id, id);
-- businessId
CREATE INDEX invoices_of_business ON invoices (org_id, business_id, id) WHERE business_id IS NOT NULL;
-- issueDateFrom, issueDateTo
CREATE INDEX invoices_issue_dates ON invoices (org_id, issue_date, id);
-- dueDateFrom, dueDateTo
CREATE INDEX invoices_due_dates ON invoices (org_id, due_date, id);
-- A client's balances
CREATE INDEX invoices_open ON invoices (org_id, client_id, currency, open_due_date, balance_due)
    WHERE open_due_date IS NOT NULL;
-- What was credited against an invoice
CREATE INDEX invoices_credits ON invoices (credits_invoice_id) WHERE credits_invoice_id IS NOT NULL;
CREATE UNIQUE INDEX invoices_number ON invoices (org_id, seller_key, number) WHERE number IS NOT NULL;
CREATE UNIQUE INDEX invoices_external_id ON invoices (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE TABLE invoice_lines (
    org_id TEXT NOT NULL,
    invoice_id TEXT NOT NULL REFERENCES invoices (id),
    position INTEGER NOT NULL CHECK (position >= 1),
    description TEXT NOT NULL,
    quantity TEXT NOT NULL,
    unit TEXT,
    unit_price TEXT NOT NULL,                   -- major units
    discount_percent TEXT NOT NULL,
    vat_code TEXT NOT NULL,
    vat_rate_percent TEXT NOT NULL,
    category TEXT,
    net INTEGER NOT NULL,
    vat INTEGER NOT NULL,
    gross INTEGER NOT NULL CHECK (gross = net + vat),
    reverse_charge_vat INTEGER NOT NULL,
    property_id TEXT,
    cis_labour INTEGER NOT NULL CHECK (cis_labour IN (0, 1)),
    PRIMARY KEY (invoice_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE invoice_payments (
    org_id TEXT NOT NULL,
    invoice_id TEXT NOT NULL REFERENCES invoices (id),
    position INTEGER NOT NULL CHECK (position >= 1),
    date TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0),
    bank_transaction_id TEXT,
    method TEXT,
    reference TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (invoice_id, position)
) STRICT, WITHOUT ROWID;

-- The last number allotted. seller_key is a legal entity, or the organization that sells itself
CREATE TABLE invoice_sequences (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    seller_key TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('invoice', 'credit_note')),
    last_number INTEGER NOT NULL CHECK (last_number >= 1),
    PRIMARY KEY (org_id, seller_key, kind)
) STRICT, WITHOUT ROWID;
