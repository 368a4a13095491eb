-- Credits: what organizations may use, what became of it, and what work costs. Amounts are millionths of a credit.

-- Plans and costs are of the instance: they have no organization.
CREATE TABLE credit_plans (
    id TEXT PRIMARY KEY,
    code TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    description TEXT,
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    price_monthly INTEGER CHECK (price_monthly >= 0),
    price_yearly INTEGER CHECK (price_yearly >= 0),
    included_credits INTEGER NOT NULL CHECK (included_credits >= 0), -- each month
    rollover TEXT NOT NULL CHECK (rollover = 'none' OR rollover = 'full' OR rollover = 'capped'),
    soft_limit INTEGER NOT NULL CHECK (soft_limit = 0 OR soft_limit = 1), -- 1: nothing is refused for want of credits
    features TEXT NOT NULL,                     -- JSON
    limits TEXT NOT NULL,                       -- JSON
    status TEXT NOT NULL CHECK (status = 'active' OR status = 'retired'),
    retired_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    CHECK ((status = 'retired') = (retired_at IS NOT NULL))
) STRICT;

-- The plan that an organization has; none: nothing is metered.
CREATE TABLE credit_subscriptions (
    org_id TEXT PRIMARY KEY REFERENCES organizations (id),
    plan_id TEXT NOT NULL REFERENCES credit_plans (id),
    since_at INTEGER NOT NULL,
    anchor_date TEXT NOT NULL,                  -- the months are counted from here
    months INTEGER NOT NULL CHECK (months >= 0), -- how many of them were granted
    next_at INTEGER                             -- when the next is granted; NULL: the plan includes nothing
) STRICT;
-- the months to be granted now, of all organizations
CREATE INDEX credit_subscriptions_due ON credit_subscriptions (next_at, org_id) WHERE next_at IS NOT NULL;

CREATE TABLE credit_costs (
    operation TEXT NOT NULL,
    unit TEXT NOT NULL CHECK (unit = 'call' OR unit = 'page' OR unit = 'mb'),
    credits INTEGER NOT NULL CHECK (credits >= 0), -- of one unit
    effective_from TEXT NOT NULL,
    effective_to TEXT,                          -- the last day; NULL: until further notice
    description TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (operation, unit, effective_from),
    CHECK (effective_to >= effective_from)
) STRICT;

CREATE TABLE credit_grants (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    source TEXT NOT NULL CHECK (
        source = 'grant' OR source = 'purchase' OR source = 'plan' OR source = 'refund' OR source = 'adjustment'
    ),
    category TEXT NOT NULL CHECK (category = 'promotional' OR category = 'paid'),
    priority INTEGER NOT NULL CHECK (priority >= 0), -- the lower is drawn from first
    amount INTEGER NOT NULL CHECK (amount > 0),
    used INTEGER NOT NULL CHECK (used >= 0),
    expired INTEGER NOT NULL CHECK (expired >= 0),
    voided INTEGER NOT NULL CHECK (voided >= 0),
    remaining INTEGER NOT NULL CHECK (remaining >= 0 AND remaining = amount - used - expired - voided),
    held INTEGER NOT NULL CHECK (held >= 0 AND held <= remaining), -- of `remaining`, by open holds
    description TEXT,
    expires_at INTEGER,
    voided_at INTEGER,
    created_at INTEGER NOT NULL
) STRICT;
-- the list, newest first
CREATE INDEX credit_grants_by_id ON credit_grants (org_id, id);
-- what is drawn from next
CREATE INDEX credit_grants_to_draw ON credit_grants (
    org_id, priority, (expires_at IS NULL), expires_at, category DESC, id
) WHERE remaining > held;
-- what expires in one organization
CREATE INDEX credit_grants_expiring ON credit_grants (org_id, expires_at, id)
WHERE remaining > held AND expires_at IS NOT NULL;
-- organizations in which something has expired
CREATE INDEX credit_grants_due ON credit_grants (expires_at, org_id) WHERE remaining > held AND expires_at IS NOT NULL;

-- Only ever added to.
CREATE TABLE credit_entries (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    sequence INTEGER NOT NULL CHECK (sequence >= 1), -- without gaps
    type TEXT NOT NULL CHECK (
        type = 'grant' OR type = 'purchase' OR type = 'usage' OR type = 'expiry' OR type = 'void' OR type = 'refund'
        OR type = 'adjustment'
    ),
    amount INTEGER NOT NULL CHECK (amount <> 0),
    balance_after INTEGER NOT NULL,
    lifetime_granted INTEGER NOT NULL,          -- up to this entry
    lifetime_used INTEGER NOT NULL,             -- up to this entry
    grant_id TEXT REFERENCES credit_grants (id), -- NULL: of no grant, as usage beyond the last credit
    operation TEXT,
    operation_id TEXT,                          -- of the work that is charged, once
    part INTEGER NOT NULL CHECK (part >= 1),    -- of the entries of one charge, each of another grant
    subject_type TEXT,
    subject_id TEXT,
    description TEXT,
    occurred_at INTEGER NOT NULL,
    booked_at INTEGER NOT NULL,
    reversal_of TEXT REFERENCES credit_entries (id),
    import_id TEXT,
    external_id TEXT,
    UNIQUE (org_id, sequence)
) STRICT;
-- the ledger by time
CREATE INDEX credit_entries_by_time ON credit_entries (org_id, occurred_at, sequence);
-- the ledger of one type; usage is nearly all of it
CREATE INDEX credit_entries_by_type ON credit_entries (org_id, type, occurred_at, sequence) WHERE type <> 'usage';
-- the ledger of one operation
CREATE INDEX credit_entries_by_operation ON credit_entries (org_id, operation, occurred_at, sequence)
WHERE operation IS NOT NULL;
-- an operation is charged once
CREATE UNIQUE INDEX credit_entries_charged ON credit_entries (org_id, operation_id, part)
WHERE operation_id IS NOT NULL;
-- what was refunded of an entry
CREATE INDEX credit_entries_reversing ON credit_entries (org_id, reversal_of) WHERE reversal_of IS NOT NULL;
-- an entry is imported once
CREATE UNIQUE INDEX credit_entries_by_external_id ON credit_entries (org_id, external_id, part)
WHERE external_id IS NOT NULL;

CREATE TABLE credit_holds (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    operation TEXT NOT NULL,
    operation_id TEXT NOT NULL,
    most INTEGER NOT NULL CHECK (most > 0),
    status TEXT NOT NULL CHECK (status = 'open' OR status = 'settled' OR status = 'released' OR status = 'expired'),
    expires_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    closed_at INTEGER,
    CHECK ((status = 'open') = (closed_at IS NULL)),
    UNIQUE (org_id, operation_id)
) STRICT;
-- what is held, and what of it has expired
CREATE INDEX credit_holds_open ON credit_holds (org_id, expires_at, id) WHERE status = 'open';
-- organizations in which a hold has expired
CREATE INDEX credit_holds_due ON credit_holds (expires_at, org_id) WHERE status = 'open';
-- what was held at an instant
CREATE INDEX credit_holds_by_time ON credit_holds (org_id, created_at);

-- Of which grants a hold is, in the order in which they are drawn from.
CREATE TABLE credit_hold_draws (
    org_id TEXT NOT NULL,
    hold_id TEXT NOT NULL REFERENCES credit_holds (id),
    position INTEGER NOT NULL,
    grant_id TEXT NOT NULL REFERENCES credit_grants (id),
    amount INTEGER NOT NULL CHECK (amount > 0),
    PRIMARY KEY (org_id, hold_id, position)
) STRICT;

-- Sums of the usage and of its refunds, by quarter of an hour: days of every time zone begin with one.
CREATE TABLE credit_usage (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    operation TEXT NOT NULL,
    quarter INTEGER NOT NULL,                   -- since the epoch
    credits INTEGER NOT NULL CHECK (credits >= 0),
    operations INTEGER NOT NULL CHECK (operations >= 0),
    PRIMARY KEY (org_id, quarter, operation)
) STRICT;

-- The same by six hours, so that a year is summed up in few steps.
CREATE TABLE credit_usage_blocks (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    operation TEXT NOT NULL,
    block INTEGER NOT NULL,                     -- of six hours, since the epoch
    credits INTEGER NOT NULL CHECK (credits >= 0),
    operations INTEGER NOT NULL CHECK (operations >= 0),
    PRIMARY KEY (org_id, block, operation)
) STRICT;
