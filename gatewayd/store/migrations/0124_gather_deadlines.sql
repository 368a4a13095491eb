-- What leaders of an organization are still to be told by mail, of deadlines and the like.
CREATE TABLE deadline_notes (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    said TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
-- What an organization's leaders are told next
CREATE INDEX deadline_notes_of_organization ON deadline_notes (org_id, id);

-- On which day an organization's leaders were told last.
CREATE TABLE deadline_mails (
    org_id TEXT PRIMARY KEY REFERENCES organizations (id),
    sent_on TEXT NOT NULL                       -- London's day
) STRICT, WITHOUT ROWID;

-- Who wants no mail but what keeps their account safe.
CREATE TABLE mail_choices (
    user_id TEXT PRIMARY KEY REFERENCES users (id),
    deadlines INTEGER NOT NULL CHECK (deadlines IN (0, 1)),
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Links in mails by which somebody chooses so without signing in, by their hashes.
CREATE TABLE mail_unsubscribes (
    hash BLOB PRIMARY KEY,                      -- SHA-256 of the token in the link
    user_id TEXT NOT NULL REFERENCES users (id),
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- The sweep
CREATE INDEX mail_unsubscribes_by_age ON mail_unsubscribes (created_at);
