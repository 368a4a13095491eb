-- Made from the migration of SQLite by `make generate`.

-- Which process works on what, until when: files that are imported, documents that are read, tokens that are refreshed.
CREATE TABLE leases (
    org_id text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,                      -- a kind and an id
    holder text COLLATE "C" NOT NULL,                       -- a process
    until bigint NOT NULL,
    PRIMARY KEY (org_id, subject)
);
