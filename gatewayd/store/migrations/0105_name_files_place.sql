-- The place of documents' bytes that several daemons share, and who appends to an upload there.
CREATE TABLE files_place (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    mark TEXT NOT NULL,                         -- what a file in the place says
    marked_at INTEGER                           -- NULL: the file may not be there yet
) STRICT;

CREATE TABLE upload_files (
    org_id TEXT NOT NULL,
    document_id TEXT NOT NULL,
    file TEXT NOT NULL,                         -- in the folder of uploads
    writer TEXT,                                -- a request; NULL: none appends now
    PRIMARY KEY (org_id, document_id)
) STRICT;
