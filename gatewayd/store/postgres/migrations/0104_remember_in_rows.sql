-- Made from the migration of SQLite by `make generate`.

-- What a daemon kept in its memory, so that several on one database count as one.

-- Challenges of passkeys that were answered. Those that are given out are signed, and kept nowhere.
CREATE TABLE used_challenges (
    nonce bytea PRIMARY KEY,
    ends_at bigint NOT NULL                    -- from then on its challenge is too old anyway
);

-- The sweep
CREATE INDEX used_challenges_by_end ON used_challenges (ends_at);

-- Sign-ins at the tax authority that somebody began and has not come back from.
CREATE TABLE authority_sign_ins (
    state_hash bytea PRIMARY KEY,
    session_id text COLLATE "C" NOT NULL,                   -- whose browser began it
    org_id text COLLATE "C" NOT NULL,
    legal_entity_id text COLLATE "C",                       -- NULL: the organization as a whole
    replaces bigint,                           -- `since` of the connection that is agreed to be lost
    begun_at bigint NOT NULL
);

-- Those of one session, oldest first
CREATE INDEX authority_sign_ins_of_session ON authority_sign_ins (session_id, begun_at);

-- The sweep
CREATE INDEX authority_sign_ins_by_begin ON authority_sign_ins (begun_at);

-- DPoP proofs that were used, where several daemons share the database (RFC 9449 section 11.1).
CREATE TABLE used_proofs (
    kind text COLLATE "C" NOT NULL,                         -- what they were used for: each kind has quotas of its own
    proof bytea NOT NULL,                        -- a hash of key and jti
    ends_at bigint NOT NULL,
    PRIMARY KEY (kind, proof)
);

-- The sweep
CREATE INDEX used_proofs_by_end ON used_proofs (ends_at);

-- How many of them each key has used, by the minute in which they end.
CREATE TABLE proof_counts (
    kind text COLLATE "C" NOT NULL,
    thumbprint text COLLATE "C" NOT NULL,                   -- '': of all keys together
    minute bigint NOT NULL,                    -- since 1970
    used bigint NOT NULL,
    PRIMARY KEY (kind, thumbprint, minute)
);

-- The sweep
CREATE INDEX proof_counts_by_minute ON proof_counts (minute);
