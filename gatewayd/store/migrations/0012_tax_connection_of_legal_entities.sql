-- What the tax authority grants to an organization, as its legal entities show it. No row: it is not connected.
-- One row of the organization and no columns of each entity: there is one grant, and an entity made later has it too.
CREATE TABLE tax_standings (
    org_id TEXT PRIMARY KEY REFERENCES organizations (id),
    vat INTEGER NOT NULL CHECK (vat IN (0, 1)),
    itsa INTEGER NOT NULL CHECK (itsa IN (0, 1)),
    expires_at INTEGER NOT NULL                         -- of the grant, not of the access token
) STRICT, WITHOUT ROWID;

-- Organizations that are connected already: the grant lasts 18 months, and a scope that is not known may be both.
INSERT INTO tax_standings (org_id, vat, itsa, expires_at)
SELECT org_id,
    trim(scope) = '' OR ' ' || scope || ' ' LIKE '% read:vat %' OR ' ' || scope || ' ' LIKE '% write:vat %',
    trim(scope) = '' OR ' ' || scope || ' ' LIKE '% read:self-assessment %'
        OR ' ' || scope || ' ' LIKE '% write:self-assessment %',
    unixepoch(created_at / 1000000, 'unixepoch', '+18 months') * 1000000
FROM tax_connections;

-- And their entities. In a name, quotes are escaped: the text stands in a wire form once.
UPDATE legal_entities SET wire = (
    SELECT CAST(replace(
        CAST(legal_entities.wire AS TEXT),
        '"taxConnection":{"vat":false,"itsa":false,"expiresAt":null}',
        '"taxConnection":{"vat":' || iif(s.vat, 'true', 'false') || ',"itsa":' || iif(s.itsa, 'true', 'false')
            || ',"expiresAt":"' || strftime('%Y-%m-%dT%H:%M:%S', s.expires_at / 1000000, 'unixepoch') || '.000Z"}'
    ) AS BLOB) FROM tax_standings s WHERE s.org_id = legal_entities.org_id
)
WHERE org_id IN (SELECT org_id FROM tax_standings);
