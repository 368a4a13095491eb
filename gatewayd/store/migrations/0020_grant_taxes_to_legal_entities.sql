-- A person grants access to their own taxes, or an agent to those of many: an organization with a company and its owner
-- has a grant of each. What was granted before stays the organization's.
CREATE TABLE tax_grants (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    legal_entity_id TEXT REFERENCES legal_entities (id),    -- NULL: of every entity that has no grant of its own
    access_sealed BLOB NOT NULL,                        -- bearer token, encrypted at rest
    refresh_sealed BLOB,                                -- NULL: cannot be refreshed
    scope TEXT NOT NULL,
    expires_at INTEGER,                                 -- of the access token; NULL: not known
    generation INTEGER NOT NULL CHECK (generation >= 1),    -- counts the replacements
    connected_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
INSERT INTO tax_grants (
    org_id, access_sealed, refresh_sealed, scope, expires_at, generation, connected_by, created_at, updated_at
)
SELECT org_id, access_sealed, refresh_sealed, scope, expires_at, generation, connected_by, created_at, updated_at
FROM tax_connections;
DROP TABLE tax_connections;
ALTER TABLE tax_grants RENAME TO tax_connections;
-- One of each entity and one of the organization; the one that a call is made over
CREATE UNIQUE INDEX tax_connections_key ON tax_connections (org_id, coalesce(legal_entity_id, ''));

CREATE TABLE granted_standings (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    legal_entity_id TEXT REFERENCES legal_entities (id),    -- NULL: of every entity that has none of its own
    vat INTEGER NOT NULL CHECK (vat IN (0, 1)),
    itsa INTEGER NOT NULL CHECK (itsa IN (0, 1)),
    expires_at INTEGER NOT NULL                         -- of the grant, not of the access token
) STRICT;
INSERT INTO granted_standings (org_id, vat, itsa, expires_at) SELECT org_id, vat, itsa, expires_at FROM tax_standings;
DROP TABLE tax_standings;
ALTER TABLE granted_standings RENAME TO tax_standings;
-- What an entity shows
CREATE UNIQUE INDEX tax_standings_key ON tax_standings (org_id, coalesce(legal_entity_id, ''));

-- Whose grant a call was made over, and what was noted of its headers.
ALTER TABLE tax_calls ADD COLUMN legal_entity_id TEXT;  -- NULL: the organization's, or none
ALTER TABLE tax_calls ADD COLUMN warnings TEXT;         -- names of headers, each with what is noted; NULL: nothing
