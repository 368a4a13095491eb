-- What is offered to clients, and which invoices were made of it.
CREATE TABLE quotes (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    state TEXT NOT NULL CHECK (state IN ('draft', 'sent', 'accepted', 'declined', 'invoiced')),
    number TEXT CHECK ((number IS NULL) = (state = 'draft')),
    seller_key TEXT NOT NULL,                   -- the legal entity, or the organization that sells itself
    client_id TEXT NOT NULL REFERENCES clients (id),
    legal_entity_id TEXT REFERENCES legal_entities (id),
    business_id TEXT,
    client_snapshot TEXT,                       -- JSON, NULL while draft
    seller_snapshot TEXT,                       -- JSON, NULL while draft
    issue_date TEXT NOT NULL,
    valid_until TEXT NOT NULL CHECK (valid_until >= issue_date),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    amounts_are TEXT NOT NULL CHECK (amounts_are IN ('exclusive', 'inclusive', 'no_vat')),
    vat_rounding TEXT NOT NULL CHECK (vat_rounding IN ('line', 'total', 'total_down')),
    net_total INTEGER NOT NULL,
    vat_total INTEGER NOT NULL,
    gross_total INTEGER NOT NULL CHECK (gross_total = net_total + vat_total AND gross_total >= 0),
    discount_amount INTEGER NOT NULL CHECK (discount_amount >= 0),
    discount_total INTEGER NOT NULL,
    reverse_charge_vat INTEGER NOT NULL,
    vat_summary TEXT NOT NULL,                  -- JSON array
    cis_deduction INTEGER NOT NULL CHECK (cis_deduction >= 0),
    cis_rate INTEGER CHECK (cis_rate IN (0, 20, 30)),
    invoiced_total INTEGER NOT NULL,
    reference TEXT,
    po_number TEXT,
    notes TEXT,
    terms TEXT,
    property_id TEXT,
    asked TEXT NOT NULL,                        -- JSON array: the lines as they were asked for
    lines TEXT NOT NULL,                        -- JSON array: with what they come to
    sent_at INTEGER,
    accepted_date TEXT,
    declined_at INTEGER,
    decline_reason TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

CREATE UNIQUE INDEX quotes_external_id ON quotes (org_id, external_id) WHERE external_id IS NOT NULL;
CREATE UNIQUE INDEX quotes_number ON quotes (org_id, seller_key, number) WHERE number IS NOT NULL;
-- accounting.listQuotes newest first
CREATE INDEX quotes_page ON quotes (org_id, id, state, client_id);
-- and in the order of change
CREATE INDEX quotes_changes ON quotes (org_id, updated_at, id);

ALTER TABLE invoices ADD COLUMN quote_id TEXT REFERENCES quotes (id);
-- accounting.listInvoices by quoteId, and what is invoiced of a quote
CREATE INDEX invoices_of_quote ON invoices (quote_id, org_id, id) WHERE quote_id IS NOT NULL;

-- Quotes are numbered too, in sequences of their own.
CREATE TABLE new_sequences (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    seller_key TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('invoice', 'credit_note', 'quote')),
    year TEXT NOT NULL CHECK (length(year) IN (0, 4)),
    pattern TEXT NOT NULL,                      -- INV-{yyyy}-{000001}; the same in all years
    last_number INTEGER NOT NULL CHECK (last_number >= 0),
    PRIMARY KEY (org_id, seller_key, kind, year)
) STRICT, WITHOUT ROWID;
INSERT INTO new_sequences (org_id, seller_key, kind, year, pattern, last_number)
SELECT org_id, seller_key, kind, year, pattern, last_number FROM invoice_sequences;
DROP TABLE invoice_sequences;
ALTER TABLE new_sequences RENAME TO invoice_sequences;
