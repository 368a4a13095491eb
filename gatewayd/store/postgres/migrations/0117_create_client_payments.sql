-- Money of a client that is for several invoices, for none yet, or goes back; and credit that is set against invoices.
CREATE TABLE client_payments (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    external_id text COLLATE "C",
    kind text COLLATE "C" NOT NULL CHECK (kind IN ('payment', 'refund', 'credit')),
    client_id text COLLATE "C" NOT NULL,
    legal_entity_id text COLLATE "C",
    date text COLLATE "C" NOT NULL,
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    amount bigint NOT NULL CHECK (amount > 0), -- that came, went back, or was set against invoices
    on_account bigint NOT NULL CHECK (kind = 'payment' OR on_account <= 0), -- what the client's credit grew by
    bank_transaction_id text COLLATE "C",
    method text COLLATE "C",
    reference text COLLATE "C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1)
);

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

ALTER TABLE client_payments ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE client_payments ADD FOREIGN KEY (client_id) REFERENCES clients (id);

ALTER TABLE client_payments ADD FOREIGN KEY (legal_entity_id) REFERENCES legal_entities (id);

-- What goes back of an invoice that was paid too much is a payment below zero.
ALTER TABLE invoice_payments ADD COLUMN client_payment_id text COLLATE "C" REFERENCES client_payments (id);

ALTER TABLE invoice_payments DROP CONSTRAINT invoice_payments_amount_check;

ALTER TABLE invoice_payments ADD CONSTRAINT invoice_payments_amount_check
    CHECK (amount > 0 OR (amount < 0 AND client_payment_id IS NOT NULL));

-- The parts of a client payment
CREATE INDEX invoice_payments_of_client ON invoice_payments (client_payment_id, org_id, invoice_id)
WHERE client_payment_id IS NOT NULL;

-- What clients paid too much
CREATE INDEX invoices_overpaid ON invoices (org_id, client_id, currency, balance_due)
WHERE balance_due < 0;
