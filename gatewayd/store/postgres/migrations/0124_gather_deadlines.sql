-- Made from the migration of SQLite by `make generate`.

-- What leaders of an organization are still to be told by mail, of deadlines and the like.
CREATE TABLE deadline_notes (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    said text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL
);

-- What an organization's leaders are told next
CREATE INDEX deadline_notes_of_organization ON deadline_notes (org_id, id);

-- On which day an organization's leaders were told last.
CREATE TABLE deadline_mails (
    org_id text COLLATE "C" PRIMARY KEY,
    sent_on text COLLATE "C" NOT NULL                       -- London's day
);

-- Who wants no mail but what keeps their account safe.
CREATE TABLE mail_choices (
    user_id text COLLATE "C" PRIMARY KEY,
    deadlines bigint NOT NULL CHECK (deadlines IN (0, 1)),
    updated_at bigint NOT NULL
);

-- Links in mails by which somebody chooses so without signing in, by their hashes.
CREATE TABLE mail_unsubscribes (
    hash bytea PRIMARY KEY,                      -- SHA-256 of the token in the link
    user_id text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL
);

-- The sweep
CREATE INDEX mail_unsubscribes_by_age ON mail_unsubscribes (created_at);

ALTER TABLE deadline_notes ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE deadline_mails ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE mail_choices ADD FOREIGN KEY (user_id) REFERENCES users (id);

ALTER TABLE mail_unsubscribes ADD FOREIGN KEY (user_id) REFERENCES users (id);
