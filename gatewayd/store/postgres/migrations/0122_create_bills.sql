-- Made from the migration of SQLite by `make generate`.

-- What suppliers are owed, and people who paid out of their own pocket.
CREATE TABLE bills (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    external_id text COLLATE "C",
    kind text COLLATE "C" NOT NULL CHECK (kind = 'bill' OR kind = 'expense_claim' OR kind = 'credit_note'),
    status text COLLATE "C" NOT NULL CHECK (
        status = 'draft' OR status = 'awaiting_payment' OR status = 'part_paid' OR status = 'paid' OR status = 'void'
    ),
    supplier_id text COLLATE "C",   -- NULL: an expense claim alone may name none
    claimant text COLLATE "C" CHECK ((claimant IS NULL) = (kind <> 'expense_claim')),
    number text COLLATE "C",                                -- the supplier's
    legal_entity_id text COLLATE "C" NOT NULL,
    business_id text COLLATE "C" NOT NULL,
    credits_bill_id text COLLATE "C",
    bill_date text COLLATE "C" NOT NULL,
    tax_point text COLLATE "C" NOT NULL,
    due_date text COLLATE "C" NOT NULL CHECK (due_date >= bill_date),
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    base_currency text COLLATE "C" NOT NULL CHECK (length(base_currency) = 3),
    fx_rate text COLLATE "C" CHECK ((fx_rate IS NULL) = (currency = base_currency)),    -- units of the business's currency for one
    fx_rate_source text COLLATE "C",
    fx_rate_date text COLLATE "C",
    amounts_are text COLLATE "C" NOT NULL CHECK (amounts_are = 'exclusive' OR amounts_are = 'inclusive'),
    net_total bigint NOT NULL,
    vat_total bigint NOT NULL,
    gross_total bigint NOT NULL CHECK (gross_total = net_total + vat_total AND gross_total > 0),
    paid_total bigint NOT NULL,
    credited_total bigint NOT NULL CHECK (credited_total >= 0 AND credited_total <= gross_total),
    balance_due bigint NOT NULL,
    notes text COLLATE "C",
    document_ids text COLLATE "C" NOT NULL,                 -- JSON
    paid_date text COLLATE "C",
    voided_at bigint,
    void_reason text COLLATE "C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1),
    open_due_date text COLLATE "C",                         -- the due date where money is still due
    repay_vat_on text COLLATE "C",                          -- when VAT goes back of what is not paid
    number_folded text COLLATE "C",                         -- case-folded, letters and digits alone: what duplicates are found by
    CHECK ((kind = 'credit_note') = (credits_bill_id IS NOT NULL)),
    CHECK (supplier_id IS NOT NULL OR kind = 'expense_claim')
);

CREATE UNIQUE INDEX bills_external_id ON bills (org_id, external_id) WHERE external_id IS NOT NULL;

-- accounting.listBills newest first
CREATE INDEX bills_page ON bills (org_id, id, status, kind);

-- and in the order of change
CREATE INDEX bills_changes ON bills (org_id, updated_at, id);

-- supplierId
CREATE INDEX bills_of_supplier ON bills (org_id, supplier_id, id) WHERE supplier_id IS NOT NULL;

-- profit and loss, and VAT
CREATE INDEX bills_of_business ON bills (org_id, business_id, tax_point);

CREATE INDEX bills_of_entity ON bills (org_id, legal_entity_id, tax_point);

-- VAT of what is not paid
CREATE INDEX bills_unpaid_vat ON bills (org_id, legal_entity_id, repay_vat_on) WHERE repay_vat_on IS NOT NULL;

-- what was credited
CREATE INDEX bills_credits ON bills (credits_bill_id) WHERE credits_bill_id IS NOT NULL;

-- what is owed, and what a bank line may pay
CREATE INDEX bills_open ON bills (org_id, open_due_date, id) WHERE open_due_date IS NOT NULL;

CREATE INDEX bills_open_balances ON bills (org_id, balance_due, id) WHERE open_due_date IS NOT NULL;

CREATE TABLE bill_lines (
    org_id text COLLATE "C" NOT NULL,
    bill_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL CHECK (position >= 1),
    description text COLLATE "C" NOT NULL,
    category text COLLATE "C" NOT NULL,
    vat_code text COLLATE "C",                              -- NULL: nobody said
    net bigint NOT NULL,
    vat bigint NOT NULL,
    gross bigint NOT NULL CHECK (gross = net + vat),
    accounted_vat bigint NOT NULL,             -- that the buyer accounts for
    disallowable bigint NOT NULL,              -- of gross
    disallowable_percent text COLLATE "C",                  -- NULL: as it is for the category
    capital_goods bigint NOT NULL CHECK (capital_goods IN (0, 1)),
    property_id text COLLATE "C",
    unit_id text COLLATE "C",
    tenancy_id text COLLATE "C",
    PRIMARY KEY (bill_id, position)
);

CREATE TABLE bill_payments (
    org_id text COLLATE "C" NOT NULL,
    bill_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL CHECK (position >= 1),
    date text COLLATE "C" NOT NULL,
    amount bigint NOT NULL CHECK (amount <> 0),    -- below zero: the supplier paid it back
    bank_transaction_id text COLLATE "C",
    method text COLLATE "C",
    reference text COLLATE "C",
    fx_rate text COLLATE "C",
    fx_rate_source text COLLATE "C",
    created_at bigint NOT NULL,
    PRIMARY KEY (bill_id, position)
);

-- what was paid in a range of days
CREATE INDEX bill_payments_dates ON bill_payments (org_id, date, bill_id);

-- The part of a bank line that pays a bill.
ALTER TABLE allocations ADD COLUMN bill_id text COLLATE "C" REFERENCES bills (id);

-- banking.listAllocations by billId, and what refers to a bill
CREATE INDEX allocations_of_bills ON allocations (bill_id, org_id, date, id) WHERE bill_id IS NOT NULL;

ALTER TABLE bills ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE bills ADD FOREIGN KEY (supplier_id) REFERENCES clients (id);

ALTER TABLE bills ADD FOREIGN KEY (legal_entity_id) REFERENCES legal_entities (id);

ALTER TABLE bills ADD FOREIGN KEY (business_id) REFERENCES businesses (id);

ALTER TABLE bills ADD FOREIGN KEY (credits_bill_id) REFERENCES bills (id);

ALTER TABLE bill_lines ADD FOREIGN KEY (bill_id) REFERENCES bills (id);

ALTER TABLE bill_payments ADD FOREIGN KEY (bill_id) REFERENCES bills (id);
