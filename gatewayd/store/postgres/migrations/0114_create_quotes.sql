-- Made from the migration of SQLite, but for the check of `invoice_sequences`, which is written by hand.

-- What is offered to clients, and which invoices were made of it.
CREATE TABLE quotes (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    external_id text COLLATE "C",
    state text COLLATE "C" NOT NULL CHECK (state IN ('draft', 'sent', 'accepted', 'declined', 'invoiced')),
    number text COLLATE "C" CHECK ((number IS NULL) = (state = 'draft')),
    seller_key text COLLATE "C" NOT NULL,                   -- the legal entity, or the organization that sells itself
    client_id text COLLATE "C" NOT NULL,
    legal_entity_id text COLLATE "C",
    business_id text COLLATE "C",
    client_snapshot text COLLATE "C",                       -- JSON, NULL while draft
    seller_snapshot text COLLATE "C",                       -- JSON, NULL while draft
    issue_date text COLLATE "C" NOT NULL,
    valid_until text COLLATE "C" NOT NULL CHECK (valid_until >= issue_date),
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    amounts_are text COLLATE "C" NOT NULL CHECK (amounts_are IN ('exclusive', 'inclusive', 'no_vat')),
    vat_rounding text COLLATE "C" NOT NULL CHECK (vat_rounding IN ('line', 'total', 'total_down')),
    net_total bigint NOT NULL,
    vat_total bigint NOT NULL,
    gross_total bigint NOT NULL CHECK (gross_total = net_total + vat_total AND gross_total >= 0),
    discount_amount bigint NOT NULL CHECK (discount_amount >= 0),
    discount_total bigint NOT NULL,
    reverse_charge_vat bigint NOT NULL,
    vat_summary text COLLATE "C" NOT NULL,                  -- JSON array
    cis_deduction bigint NOT NULL CHECK (cis_deduction >= 0),
    cis_rate bigint CHECK (cis_rate IN (0, 20, 30)),
    invoiced_total bigint NOT NULL,
    reference text COLLATE "C",
    po_number text COLLATE "C",
    notes text COLLATE "C",
    terms text COLLATE "C",
    property_id text COLLATE "C",
    asked text COLLATE "C" NOT NULL,                        -- JSON array: the lines as they were asked for
    lines text COLLATE "C" NOT NULL,                        -- JSON array: with what they come to
    sent_at bigint,
    accepted_date text COLLATE "C",
    declined_at bigint,
    decline_reason text COLLATE "C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1)
);

CREATE UNIQUE INDEX quotes_external_id ON quotes (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE UNIQUE INDEX quotes_number ON quotes (org_id, seller_key, number) WHERE number IS NOT NULL;

-- accounting.listQuotes newest first
CREATE INDEX quotes_page ON quotes (org_id, id, state, client_id);

-- and in the order of change
CREATE INDEX quotes_changes ON quotes (org_id, updated_at, id);

ALTER TABLE invoices ADD COLUMN quote_id text COLLATE "C" REFERENCES quotes (id);

-- accounting.listInvoices by quoteId, and what is invoiced of a quote
CREATE INDEX invoices_of_quote ON invoices (quote_id, org_id, id) WHERE quote_id IS NOT NULL;

ALTER TABLE quotes ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE quotes ADD FOREIGN KEY (client_id) REFERENCES clients (id);

ALTER TABLE quotes ADD FOREIGN KEY (legal_entity_id) REFERENCES legal_entities (id);

-- Quotes are numbered too, in sequences of their own.
ALTER TABLE invoice_sequences DROP CONSTRAINT invoice_sequences_kind_check;

ALTER TABLE invoice_sequences ADD CONSTRAINT invoice_sequences_kind_check
    CHECK (kind IN ('invoice', 'credit_note', 'quote'));
