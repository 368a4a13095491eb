-- One row: no row that is listed by `updatedSince` bears a later `updated_at` than `latest`.
CREATE TABLE update_clock (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    latest INTEGER NOT NULL
) STRICT;

INSERT INTO update_clock (id, latest)
SELECT 1, coalesce(max(found.latest), 0) FROM (
    SELECT max(updated_at) AS latest FROM legal_entities
    UNION ALL SELECT max(updated_at) FROM businesses
    UNION ALL SELECT max(updated_at) FROM clients
    UNION ALL SELECT max(updated_at) FROM invoices
    UNION ALL SELECT max(updated_at) FROM leads
    UNION ALL SELECT max(updated_at) FROM opportunities
) AS found;

-- One row, written now and then to find out whether the disk takes it. `filler` is there after a write that failed.
CREATE TABLE write_check (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    checked_at INTEGER NOT NULL,
    filler BLOB
) STRICT;

INSERT INTO write_check (id, checked_at) VALUES (1, 0);
