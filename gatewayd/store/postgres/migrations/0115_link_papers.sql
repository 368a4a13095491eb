-- Made from the migration of SQLite by `make generate`.

-- Addresses under which clients open an invoice or a quote without signing in.
CREATE TABLE paper_links (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    about text COLLATE "C" NOT NULL,                        -- the invoice or quote that it shows
    hash bytea NOT NULL,                         -- of the token in the address
    token_sealed bytea NOT NULL,                 -- the token, to say the address again; empty: it is lost, and works
    created_at bigint NOT NULL,
    ended_at bigint                            -- NULL: it works
);

-- Who comes with an address
CREATE UNIQUE INDEX paper_links_hash ON paper_links (hash);

-- The one that is given out
CREATE UNIQUE INDEX paper_links_of ON paper_links (org_id, about)
    WHERE ended_at IS NULL AND length(token_sealed) > 0;

-- Since when a quote was seen; NULL: it was not.
ALTER TABLE quotes ADD COLUMN viewed_at bigint;

ALTER TABLE paper_links ADD FOREIGN KEY (org_id) REFERENCES organizations (id);
