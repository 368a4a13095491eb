-- Reading the documents of the vault: where each one stands, every attempt at it, the text of its pages, and the files
-- that were made from it.
CREATE TABLE vault_parses (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    document_id TEXT NOT NULL REFERENCES vault_documents (id),
    status TEXT NOT NULL CHECK (
        status = 'queued' OR status = 'running' OR status = 'succeeded' OR status = 'failed' OR status = 'skipped'
    ),
    attempt INTEGER NOT NULL CHECK (attempt >= 1),
    retries INTEGER NOT NULL DEFAULT 0 CHECK (retries >= 0), -- that were begun by themselves since it was last asked for
    due_at INTEGER,                             -- when it may be claimed; NULL: it need not be any more
    started_at INTEGER,
    finished_at INTEGER,
    error_code TEXT,
    error_message TEXT,
    engine TEXT,
    text_chars INTEGER,
    language TEXT,
    extracted TEXT,                             -- JSON; NULL: nothing was found
    PRIMARY KEY (org_id, document_id)
) STRICT;

-- The next to claim of each organization.
CREATE INDEX vault_parses_due ON vault_parses (org_id, due_at, document_id) WHERE due_at IS NOT NULL;

-- What a daemon that was killed has left.
CREATE INDEX vault_parses_running ON vault_parses (org_id, document_id) WHERE status = 'running';

-- vault.countFailedDocuments, and lists by the state of reading.
CREATE INDEX vault_parses_by_status ON vault_parses (org_id, status, document_id);

CREATE TABLE vault_parse_attempts (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    document_id TEXT NOT NULL REFERENCES vault_documents (id),
    n INTEGER NOT NULL CHECK (n >= 1),
    status TEXT NOT NULL CHECK (
        status = 'running' OR status = 'succeeded' OR status = 'failed' OR status = 'skipped'
        OR status = 'interrupted'
    ),
    engine TEXT,
    started_at INTEGER NOT NULL,
    finished_at INTEGER,
    error_code TEXT,
    error_message TEXT,
    PRIMARY KEY (org_id, document_id, n)
) STRICT;

CREATE TABLE vault_pages (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    document_id TEXT NOT NULL REFERENCES vault_documents (id),
    number INTEGER NOT NULL CHECK (number >= 1),
    text TEXT NOT NULL,
    PRIMARY KEY (org_id, document_id, number)
) STRICT;

CREATE TABLE vault_variants (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    document_id TEXT NOT NULL REFERENCES vault_documents (id),
    variant TEXT NOT NULL CHECK (variant = 'searchable_pdf' OR variant = 'text' OR variant = 'thumbnail'),
    page INTEGER NOT NULL,                      -- 0: the whole document
    width INTEGER NOT NULL,                     -- that was asked for, in pixels; 0: it is no picture
    drawn_width INTEGER NOT NULL DEFAULT 0,     -- what it has: a small picture is not made larger
    height INTEGER NOT NULL,
    mime_type TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (org_id, document_id, variant, page, width)
) STRICT;

-- Whether a file is needed still.
CREATE INDEX vault_variants_by_content ON vault_variants (sha256);

-- Documents that were there before are read too.
INSERT INTO vault_parses (org_id, document_id, status, attempt, due_at)
SELECT org_id, id, 'queued', 1, updated_at FROM vault_documents WHERE status = 'uploaded';
