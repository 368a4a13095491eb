-- Invitations: a link by which somebody joins an organization, once.
CREATE TABLE invitations (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    user_id TEXT REFERENCES users (id),         -- who invites, and with whose membership it ends; NULL: the operator
    hash BLOB NOT NULL UNIQUE,                  -- SHA-256 of the token
    email TEXT NOT NULL,                        -- whose account joins, as it was given
    email_folded TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
    new_user_id TEXT NOT NULL,                  -- of the account that is made by it, where the address has none
    created_by TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    accepted_at INTEGER,
    accepted_by TEXT REFERENCES users (id),
    revoked_at INTEGER,
    created_at INTEGER NOT NULL
) STRICT;
-- Those of an organization, in the order in which they were made; and at most so many
CREATE INDEX invitations_page ON invitations (org_id, id);
-- What ends with a membership
CREATE INDEX invitations_of_user ON invitations (user_id);
CREATE INDEX invitations_accepted ON invitations (accepted_by);
-- The sweep
CREATE INDEX invitations_by_expiry ON invitations (expires_at);
