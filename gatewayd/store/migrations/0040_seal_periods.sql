-- The key that signs what is sealed: one for each instance, kept for as long as anybody may compare its fingerprint.
CREATE TABLE seal_keys (
    kid TEXT PRIMARY KEY,                       -- its thumbprint (RFC 7638)
    private_sealed BLOB NOT NULL,               -- the private JWK, encrypted at rest
    public_jwk TEXT NOT NULL,                   -- JSON
    created_at INTEGER NOT NULL
) STRICT;

-- Bundles of closed periods. The file is a blob, named by its digest.
CREATE TABLE period_seals (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    period_id TEXT NOT NULL REFERENCES periods (id),
    number INTEGER NOT NULL CHECK (number >= 1),    -- of the period: 1 for the first
    sealed_at INTEGER NOT NULL,
    sealed_by TEXT NOT NULL,
    size_bytes INTEGER NOT NULL CHECK (size_bytes > 0),
    sha256 TEXT NOT NULL,                       -- of the file, hexadecimal
    contents_sha256 TEXT NOT NULL,              -- of what is in it: the same for the same books
    key_fingerprint TEXT NOT NULL,
    files TEXT NOT NULL,                        -- JSON: path, bytes, rows, sha256
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

-- The seals of a period
CREATE UNIQUE INDEX period_seals_of_period ON period_seals (org_id, period_id, number);
