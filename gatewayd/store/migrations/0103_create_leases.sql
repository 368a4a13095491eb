-- Which process works on what, until when: files that are imported, documents that are read, tokens that are refreshed.
CREATE TABLE leases (
    org_id TEXT NOT NULL,
    subject TEXT NOT NULL,                      -- a kind and an id
    holder TEXT NOT NULL,                       -- a process
    until INTEGER NOT NULL,
    PRIMARY KEY (org_id, subject)
) STRICT;
