-- Money of a client that is for several invoices, for none yet, or goes back; and credit that is set against invoices.
CREATE TABLE client_payments (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    kind TEXT NOT NULL CHECK (kind IN ('payment', 'refund', 'credit')),
    client_id TEXT NOT NULL REFERENCES clients (id),
    legal_entity_id TEXT REFERENCES legal_entities (id),
    date TEXT NOT NULL,
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    amount INTEGER NOT NULL CHECK (amount > 0), -- that came, went back, or was set against invoices
    on_account INTEGER NOT NULL CHECK (kind = 'payment' OR on_account <= 0), -- what the client's credit grew by
    bank_transaction_id TEXT,
    method TEXT,
    reference TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

CREATE UNIQUE INDEX client_payments_external_id ON client_payments (org_id, external_id) WHERE external_id IS NOT NULL;
-- A bank transaction is of one client payment alone
CREATE UNIQUE INDEX client_payments_of_line ON client_payments (org_id, bank_transaction_id)
WHERE bank_transaction_id IS NOT NULL;
-- accounting.listClientPayments newest first, and in the order of change
CREATE INDEX client_payments_page ON client_payments (org_id, id, client_id);
CREATE INDEX client_payments_changes ON client_payments (org_id, updated_at, id);
-- What is on account of a client
CREATE INDEX client_payments_on_account ON client_payments (org_id, client_id, currency, legal_entity_id, date, on_account);
-- What moved in a range of days
CREATE INDEX client_payments_by_date ON client_payments (org_id, date, id);

-- What goes back of an invoice that was paid too much is a payment below zero.
CREATE TABLE new_invoice_payments (
    org_id TEXT NOT NULL,
    invoice_id TEXT NOT NULL REFERENCES invoices (id),
    position INTEGER NOT NULL CHECK (position >= 1),
    date TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0 OR (amount < 0 AND client_payment_id IS NOT NULL)),
    bank_transaction_id TEXT,
    method TEXT,
    reference TEXT,
    created_at INTEGER NOT NULL,
    fx_rate TEXT,
    fx_rate_source TEXT CHECK (fx_rate_source = 'recorded' OR fx_rate_source = 'hmrc'),
    client_payment_id TEXT REFERENCES client_payments (id),
    PRIMARY KEY (invoice_id, position)
) STRICT, WITHOUT ROWID;
INSERT INTO new_invoice_payments (
    org_id, invoice_id, position, date, amount, bank_transaction_id, method, reference, created_at, fx_rate,
    fx_rate_source
)
SELECT org_id, invoice_id, position, date, amount, bank_transaction_id, method, reference, created_at, fx_rate,
    fx_rate_source
FROM invoice_payments;
DROP TABLE invoice_payments;
ALTER TABLE new_invoice_payments RENAME TO invoice_payments;
-- What was paid in a range of days
CREATE INDEX invoice_payments_by_date ON invoice_payments (org_id, date, invoice_id);
-- The parts of a client payment
CREATE INDEX invoice_payments_of_client ON invoice_payments (client_payment_id, org_id, invoice_id)
WHERE client_payment_id IS NOT NULL;

-- What clients paid too much
CREATE INDEX invoices_overpaid ON invoices (org_id, client_id, currency, balance_due)
WHERE balance_due < 0;
