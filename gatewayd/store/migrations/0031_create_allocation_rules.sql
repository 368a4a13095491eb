CREATE TABLE allocation_rules (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    mode TEXT NOT NULL CHECK (mode = 'propose' OR mode = 'apply'),
    priority INTEGER NOT NULL,                  -- the lowest decides first
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    conditions TEXT NOT NULL,                   -- JSON
    outcome TEXT NOT NULL,                      -- JSON
    learned_from TEXT,                          -- for people: the choices that it follows; NULL: a person wrote it
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;
-- the list, newest first
CREATE INDEX allocation_rules_by_id ON allocation_rules (org_id, id);
-- the list with updatedSince
CREATE INDEX allocation_rules_by_change ON allocation_rules (org_id, updated_at, id);

-- the other end of a transfer: what is unallocated of one account, by amount
CREATE INDEX bank_transactions_to_pair ON bank_transactions (org_id, account_id, amount, date, id)
WHERE allocated = 0 AND status = 'booked';
-- which invoice money is for: by what is due on it, and the latest
CREATE INDEX invoices_open_by_balance ON invoices (org_id, balance_due, id) WHERE open_due_date IS NOT NULL;
CREATE INDEX invoices_open_by_date ON invoices (org_id, open_due_date, id) WHERE open_due_date IS NOT NULL;
