-- Deadlines for calendar programs: whoever has a feed's token may read them, until it is revoked.
CREATE TABLE calendar_feeds (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    user_id TEXT,                                       -- whose membership it ends with; NULL: the operator made it
    hash BLOB NOT NULL UNIQUE,                          -- SHA-256 of the token
    name TEXT NOT NULL,
    legal_entity_id TEXT REFERENCES legal_entities (id),    -- NULL: of all that the organization has
    created_by TEXT NOT NULL,
    revoked_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

-- updatedSince
CREATE INDEX calendar_feeds_changes ON calendar_feeds (org_id, updated_at, id);
-- Newest first, and those that a person made
CREATE INDEX calendar_feeds_page ON calendar_feeds (org_id, id);
CREATE INDEX calendar_feeds_of_user ON calendar_feeds (user_id);
