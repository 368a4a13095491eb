-- Addresses under which clients open an invoice or a quote without signing in.
CREATE TABLE paper_links (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    about TEXT NOT NULL,                        -- the invoice or quote that it shows
    hash BLOB NOT NULL,                         -- of the token in the address
    token_sealed BLOB NOT NULL,                 -- the token, to say the address again; empty: it is lost, and works
    created_at INTEGER NOT NULL,
    ended_at INTEGER                            -- NULL: it works
) STRICT;

-- Who comes with an address
CREATE UNIQUE INDEX paper_links_hash ON paper_links (hash);
-- The one that is given out
CREATE UNIQUE INDEX paper_links_of ON paper_links (org_id, about)
    WHERE ended_at IS NULL AND length(token_sealed) > 0;

-- Since when a quote was seen; NULL: it was not.
ALTER TABLE quotes ADD COLUMN viewed_at INTEGER;
