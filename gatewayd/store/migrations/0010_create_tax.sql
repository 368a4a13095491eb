-- Tax: who asked for the restricted scopes, how organizations reach the authority, and what was asked of it.
CREATE TABLE tax_requests (
    id TEXT PRIMARY KEY,
    org_id TEXT REFERENCES organizations (id),          -- of the key; NULL: a client belongs to the instance
    kind TEXT NOT NULL CHECK (kind IN ('key', 'client')),
    subject TEXT NOT NULL,                              -- the key's or the client's id
    status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'refused')),
    attestation TEXT,                                   -- what the vendor declared, word for word
    requested_by TEXT NOT NULL,
    decided_by TEXT,
    decided_at INTEGER,
    reason TEXT,                                        -- why it was refused
    created_at INTEGER NOT NULL,
    CHECK ((status = 'pending') = (decided_at IS NULL)),
    CHECK ((decided_by IS NULL) = (decided_at IS NULL)),
    CHECK ((kind = 'key') = (org_id IS NOT NULL))
) STRICT;

-- One undecided request for each subject
CREATE UNIQUE INDEX tax_requests_pending ON tax_requests (kind, subject) WHERE status = 'pending';
-- The last request of a subject
CREATE INDEX tax_requests_of_subject ON tax_requests (kind, subject, id);
-- The operator's list
CREATE INDEX tax_requests_by_status ON tax_requests (status, id);

-- What the authority granted to an organization: one grant each, replaced as a whole when it is refreshed.
CREATE TABLE tax_connections (
    org_id TEXT PRIMARY KEY REFERENCES organizations (id),
    access_sealed BLOB NOT NULL,                        -- bearer token, encrypted at rest
    refresh_sealed BLOB,                                -- NULL: cannot be refreshed
    scope TEXT NOT NULL,
    expires_at INTEGER,                                 -- of the access token; NULL: not known
    generation INTEGER NOT NULL CHECK (generation >= 1),    -- counts the replacements
    connected_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Each call of the tax operations: who asked for what, and how it ended. Never a body, a token or a header's value.
CREATE TABLE tax_calls (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    at INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    credential_id TEXT NOT NULL,
    user_id TEXT,
    operation TEXT NOT NULL,
    status INTEGER NOT NULL,                            -- what the caller was answered
    code TEXT,                                          -- the code of a problem of ours; NULL: the upstream's answer
    correlation_id TEXT,                                -- the upstream's own name for the call
    milliseconds INTEGER NOT NULL
) STRICT;

-- Calls of one organization, newest first
CREATE INDEX tax_calls_of_org ON tax_calls (org_id, id);
