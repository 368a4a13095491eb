-- What suppliers are owed, and people who paid out of their own pocket.
CREATE TABLE bills (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    kind TEXT NOT NULL CHECK (kind = 'bill' OR kind = 'expense_claim' OR kind = 'credit_note'),
    status TEXT NOT NULL CHECK (
        status = 'draft' OR status = 'awaiting_payment' OR status = 'part_paid' OR status = 'paid' OR status = 'void'
    ),
    supplier_id TEXT REFERENCES clients (id),   -- NULL: an expense claim alone may name none
    claimant TEXT CHECK ((claimant IS NULL) = (kind <> 'expense_claim')),
    number TEXT,                                -- the supplier's
    legal_entity_id TEXT NOT NULL REFERENCES legal_entities (id),
    business_id TEXT NOT NULL REFERENCES businesses (id),
    credits_bill_id TEXT REFERENCES bills (id),
    bill_date TEXT NOT NULL,
    tax_point TEXT NOT NULL,
    due_date TEXT NOT NULL CHECK (due_date >= bill_date),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    base_currency TEXT NOT NULL CHECK (length(base_currency) = 3),
    fx_rate TEXT CHECK ((fx_rate IS NULL) = (currency = base_currency)),    -- units of the business's currency for one
    fx_rate_source TEXT,
    fx_rate_date TEXT,
    amounts_are TEXT NOT NULL CHECK (amounts_are = 'exclusive' OR amounts_are = 'inclusive'),
    net_total INTEGER NOT NULL,
    vat_total INTEGER NOT NULL,
    gross_total INTEGER NOT NULL CHECK (gross_total = net_total + vat_total AND gross_total > 0),
    paid_total INTEGER NOT NULL,
    credited_total INTEGER NOT NULL CHECK (credited_total >= 0 AND credited_total <= gross_total),
    balance_due INTEGER NOT NULL,
    notes TEXT,
    document_ids TEXT NOT NULL,                 -- JSON
    paid_date TEXT,
    voided_at INTEGER,
    void_reason TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    open_due_date TEXT,                         -- the due date where money is still due
    repay_vat_on TEXT,                          -- when VAT goes back of what is not paid
    number_folded TEXT,                         -- case-folded, letters and digits alone: what duplicates are found by
    CHECK ((kind = 'credit_note') = (credits_bill_id IS NOT NULL)),
    CHECK (supplier_id IS NOT NULL OR kind = 'expense_claim')
) STRICT;

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
    org_id TEXT NOT NULL,
    bill_id TEXT NOT NULL REFERENCES bills (id),
    position INTEGER NOT NULL CHECK (position >= 1),
    description TEXT NOT NULL,
    category TEXT NOT NULL,
    vat_code TEXT,                              -- NULL: nobody said
    net INTEGER NOT NULL,
    vat INTEGER NOT NULL,
    gross INTEGER NOT NULL CHECK (gross = net + vat),
    accounted_vat INTEGER NOT NULL,             -- that the buyer accounts for
    disallowable INTEGER NOT NULL,              -- of gross
    disallowable_percent TEXT,                  -- NULL: as it is for the category
    capital_goods INTEGER NOT NULL CHECK (capital_goods IN (0, 1)),
    property_id TEXT,
    unit_id TEXT,
    tenancy_id TEXT,
    PRIMARY KEY (bill_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE bill_payments (
    org_id TEXT NOT NULL,
    bill_id TEXT NOT NULL REFERENCES bills (id),
    position INTEGER NOT NULL CHECK (position >= 1),
    date TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount <> 0),    -- below zero: the supplier paid it back
    bank_transaction_id TEXT,
    method TEXT,
    reference TEXT,
    fx_rate TEXT,
    fx_rate_source TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (bill_id, position)
) STRICT, WITHOUT ROWID;
-- what was paid in a range of days
CREATE INDEX bill_payments_dates ON bill_payments (org_id, date, bill_id);

-- The part of a bank line that pays a bill.
ALTER TABLE allocations ADD COLUMN bill_id TEXT REFERENCES bills (id);
-- banking.listAllocations by billId, and what refers to a bill
CREATE INDEX allocations_of_bills ON allocations (bill_id, org_id, date, id) WHERE bill_id IS NOT NULL;
