-- Of which state of an organization's vectors something was made.
CREATE TABLE vault_vector_revisions (
    org_id TEXT PRIMARY KEY REFERENCES organizations (id),
    revision INTEGER NOT NULL                   -- counts what was changed
) STRICT;

DROP INDEX vault_chunks_by_code;

-- What is near in meaning: signs are read in the order of passages, some thousands at a time, and kept in memory until
-- they change. It has all that this needs.
CREATE INDEX vault_chunks_with_code ON vault_chunks (org_id, model, number, code, document_id) WHERE code IS NOT NULL;
