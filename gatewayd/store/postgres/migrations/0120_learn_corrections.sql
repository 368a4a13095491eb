-- Made from the migration of SQLite by `make generate`.

-- Whether a document goes on beyond what was read of it, and what somebody corrected of what was read: JSON by names.
ALTER TABLE vault_parses ADD COLUMN is_cut bigint NOT NULL DEFAULT 0 CHECK (is_cut = 0 OR is_cut = 1);

ALTER TABLE vault_parses ADD COLUMN corrected text COLLATE "C";

-- What corrections have told of the bills of one sender, for the next of them.
CREATE TABLE vault_learned (
    org_id text COLLATE "C" NOT NULL,
    sender_key text COLLATE "C" NOT NULL,                   -- a VAT number, a bank account or the letters of a name, each with its kind
    field text COLLATE "C" NOT NULL,
    value text COLLATE "C",                                 -- what it always is; NULL: what stands behind the label
    label text COLLATE "C",                                 -- the letters before the right value
    learned_at bigint NOT NULL,
    PRIMARY KEY (org_id, sender_key, field),
    CHECK ((value IS NULL) <> (label IS NULL))
);

-- the oldest, which go where there are too many
CREATE INDEX vault_learned_by_age ON vault_learned (org_id, learned_at, sender_key, field);

ALTER TABLE vault_learned ADD FOREIGN KEY (org_id) REFERENCES organizations (id);
