-- Whether a document goes on beyond what was read of it, and what somebody corrected of what was read: JSON by names.
ALTER TABLE vault_parses ADD COLUMN is_cut INTEGER NOT NULL DEFAULT 0 CHECK (is_cut = 0 OR is_cut = 1);
ALTER TABLE vault_parses ADD COLUMN corrected TEXT;

-- What corrections have told of the bills of one sender, for the next of them.
CREATE TABLE vault_learned (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    sender_key TEXT NOT NULL,                   -- a VAT number, a bank account or the letters of a name, each with its kind
    field TEXT NOT NULL,
    value TEXT,                                 -- what it always is; NULL: what stands behind the label
    label TEXT,                                 -- the letters before the right value
    learned_at INTEGER NOT NULL,
    PRIMARY KEY (org_id, sender_key, field),
    CHECK ((value IS NULL) <> (label IS NULL))
) STRICT;
-- the oldest, which go where there are too many
CREATE INDEX vault_learned_by_age ON vault_learned (org_id, learned_at, sender_key, field);
