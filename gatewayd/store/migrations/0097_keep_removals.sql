-- What was deleted, so that a copy of a list learns of it. Kept 90 days.
CREATE TABLE removals (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    resource TEXT NOT NULL,                             -- the name of its table
    removed_at INTEGER NOT NULL,                        -- in the order of `updated_at`
    id TEXT NOT NULL,
    PRIMARY KEY (org_id, resource, removed_at, id)
) STRICT, WITHOUT ROWID;

-- Forgetting the oldest.
CREATE INDEX removals_by_age ON removals (removed_at);

-- From when on the removals of a list are known; no row: from its first.
CREATE TABLE removals_forgotten (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    resource TEXT NOT NULL,
    latest INTEGER NOT NULL,                            -- when the last of those was removed that are no longer kept
    PRIMARY KEY (org_id, resource)
) STRICT, WITHOUT ROWID;

-- Restores from a backup: what changed between the two instants never happened.
CREATE TABLE restores (
    restored_at INTEGER PRIMARY KEY,
    backup_made_at INTEGER NOT NULL
) STRICT;

-- What comes in hidden bears instants of before it appears: from the first of them on nothing is told of changes.
ALTER TABLE hidden_imports ADD COLUMN since INTEGER;  -- NULL: of before this was kept

-- What a client owes moves its `updatedAt`, and nothing else of its JSON: the instant is put in on serving. Behind it
-- stand `","version":` and the version.
UPDATE clients SET wire = CAST(
    CAST(substr(wire, 1, length(wire) - length(CAST(version AS TEXT)) - 36) AS TEXT)
    || '0000-00-00T00:00:00.000Z","version":' || CAST(version AS TEXT) AS BLOB
);
