-- The keys that sign tokens. Each is published before it signs, and stays published until what it signed is dead.
CREATE TABLE signing_keys (
    kid TEXT PRIMARY KEY,
    alg TEXT NOT NULL CHECK (alg IN ('ES256', 'RS256')),
    private_sealed BLOB NOT NULL,                       -- the private JWK, encrypted at rest
    public_jwk TEXT NOT NULL,                           -- JSON
    signs_from INTEGER NOT NULL,
    signs_until INTEGER,                                -- NULL: until the next one is made
    published_until INTEGER,                            -- NULL with signs_until; then later by the longest token's life
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE oauth_clients (
    id TEXT PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 2048),  -- ours, or the https URL of a metadata document
    origin TEXT NOT NULL CHECK (origin IN ('registered', 'document')),
    name TEXT NOT NULL,                                 -- what it calls itself: shown, never believed
    metadata BLOB NOT NULL,                             -- JSON: what is honoured (RFC 7591 §2)
    tax_approved_at INTEGER,
    document_fresh_until INTEGER,                       -- the cached document is used without asking until then
    revoked_at INTEGER,
    last_used_day TEXT,                                 -- YYYY-MM-DD, UTC
    created_at INTEGER NOT NULL,
    CHECK ((document_fresh_until IS NOT NULL) = (origin = 'document'))
) STRICT;

-- The sweep of clients that nobody came to use
CREATE INDEX oauth_clients_by_age ON oauth_clients (created_at);

-- An authorization on its way: pushed by a client (RFC 9126), or in front of a person.
CREATE TABLE authorization_requests (
    hash BLOB PRIMARY KEY,                              -- SHA-256 of the handle
    client_id TEXT NOT NULL REFERENCES oauth_clients (id) ON DELETE CASCADE,
    pushed INTEGER NOT NULL CHECK (pushed IN (0, 1)),
    parameters BLOB NOT NULL,                           -- JSON, checked
    session_id TEXT REFERENCES sessions (id),           -- the browser session it was bound to at its first page
    expires_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The sweep; the cascade when a client goes
CREATE INDEX authorization_requests_by_expiry ON authorization_requests (expires_at);
CREATE INDEX authorization_requests_of_client ON authorization_requests (client_id);

-- One consent of one person for one client and organization, and the family of refresh tokens that lives by it.
CREATE TABLE grants (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    user_id TEXT NOT NULL REFERENCES users (id),
    client_id TEXT NOT NULL REFERENCES oauth_clients (id),
    scopes TEXT NOT NULL,                               -- space separated
    session_id TEXT NOT NULL REFERENCES sessions (id),  -- `sid` of ID tokens
    authenticated_at INTEGER NOT NULL,                  -- `auth_time`
    methods TEXT NOT NULL,                              -- `amr`
    nonce TEXT,
    key_thumbprint TEXT,                                -- RFC 9449: tokens are bound to this key; NULL: bearer
    generation INTEGER NOT NULL CHECK (generation >= 0),    -- of the newest refresh token; 0: none was issued
    expires_at INTEGER NOT NULL,                        -- 30 days from the consent: no refresh after it
    last_used_day TEXT,
    revoked_at INTEGER,
    revoked_reason TEXT CHECK (revoked_reason IN
        ('user', 'client', 'operator', 'code_replayed', 'refresh_reused', 'password_changed', 'member_removed')),
    created_at INTEGER NOT NULL,
    CHECK ((revoked_at IS NULL) = (revoked_reason IS NULL))
) STRICT;

-- Connected apps of one person or organization; whether a client has any
CREATE INDEX grants_of_user ON grants (user_id, id);
CREATE INDEX grants_of_org ON grants (org_id, id);
CREATE INDEX grants_of_client ON grants (client_id, id);
-- The foreign key's check when a session is swept
CREATE INDEX grants_of_session ON grants (session_id);

CREATE TABLE authorization_codes (
    hash BLOB PRIMARY KEY,                              -- SHA-256 of the code
    grant_id TEXT NOT NULL REFERENCES grants (id) ON DELETE CASCADE,
    redirect_uri TEXT NOT NULL,                         -- as it was sent: the token request repeats it
    code_challenge TEXT NOT NULL,                       -- S256
    key_thumbprint TEXT,                                -- dpop_jkt of the authorization request (RFC 9449 §10)
    expires_at INTEGER NOT NULL,
    used_at INTEGER
) STRICT, WITHOUT ROWID;

-- The cascade when a grant goes; the sweep
CREATE INDEX authorization_codes_of_grant ON authorization_codes (grant_id);
CREATE INDEX authorization_codes_by_expiry ON authorization_codes (expires_at);

CREATE TABLE refresh_tokens (
    hash BLOB PRIMARY KEY,                              -- SHA-256 of the token
    grant_id TEXT NOT NULL REFERENCES grants (id) ON DELETE CASCADE,
    generation INTEGER NOT NULL CHECK (generation >= 1),
    superseded_at INTEGER,
    answer_sealed BLOB,                                 -- the answer that superseded it, encrypted, for the grace window
    created_at INTEGER NOT NULL,
    CHECK ((superseded_at IS NULL) = (answer_sealed IS NULL))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX refresh_tokens_of_grant ON refresh_tokens (grant_id, generation);
