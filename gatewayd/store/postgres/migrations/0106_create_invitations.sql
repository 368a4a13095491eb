-- Made from the migration of SQLite by `make generate`.

-- Invitations: a link by which somebody joins an organization, once.
CREATE TABLE invitations (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C",         -- who invites, and with whose membership it ends; NULL: the operator
    hash bytea NOT NULL UNIQUE,                  -- SHA-256 of the token
    email text COLLATE "C" NOT NULL,                        -- whose account joins, as it was given
    email_folded text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
    new_user_id text COLLATE "C" NOT NULL,                  -- of the account that is made by it, where the address has none
    created_by text COLLATE "C" NOT NULL,
    expires_at bigint NOT NULL,
    accepted_at bigint,
    accepted_by text COLLATE "C",
    revoked_at bigint,
    created_at bigint NOT NULL
);

-- Those of an organization, in the order in which they were made; and at most so many
CREATE INDEX invitations_page ON invitations (org_id, id);

-- What ends with a membership
CREATE INDEX invitations_of_user ON invitations (user_id);

CREATE INDEX invitations_accepted ON invitations (accepted_by);

-- The sweep
CREATE INDEX invitations_by_expiry ON invitations (expires_at);

ALTER TABLE invitations ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE invitations ADD FOREIGN KEY (user_id) REFERENCES users (id);

ALTER TABLE invitations ADD FOREIGN KEY (accepted_by) REFERENCES users (id);
