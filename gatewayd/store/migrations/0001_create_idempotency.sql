CREATE TABLE idempotency_keys (
    org_id TEXT NOT NULL,
    credential_id TEXT NOT NULL,
    key TEXT NOT NULL,
    request_hash BLOB NOT NULL,
    operation TEXT NOT NULL,
    response BLOB,                  -- NULL while a call is under way
    sealed INTEGER NOT NULL CHECK (sealed IN (0, 1)),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (org_id, credential_id, key)
) STRICT;

-- The sweep: DELETE ... WHERE created_at < :before
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);
