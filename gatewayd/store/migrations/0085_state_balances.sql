-- What people say that accounts held at the end of a day, as a statement's foot does.
CREATE TABLE stated_balances (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    account_id TEXT NOT NULL REFERENCES bank_accounts (id),
    date TEXT NOT NULL,
    opens_on TEXT NOT NULL,                     -- the day after, which it is the opening balance of
    balance INTEGER NOT NULL,                   -- minor units
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    note TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

CREATE UNIQUE INDEX stated_balances_of_day ON stated_balances (org_id, account_id, date);
