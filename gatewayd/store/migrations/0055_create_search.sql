-- What documents are found by. All of it can be made anew from vault_documents and vault_pages: `gatewayd document
-- reindex`. Documents are named without a reference, so that what was purged can still be taken out.
CREATE TABLE vault_index_queue (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    document_id TEXT NOT NULL,
    revision INTEGER NOT NULL,                  -- of what is to be indexed: it may change while that is done
    queued_at INTEGER NOT NULL,
    PRIMARY KEY (org_id, document_id)
) STRICT;
-- the next to index of an organization, oldest first
CREATE INDEX vault_index_queue_oldest ON vault_index_queue (org_id, queued_at, document_id);

-- The rows of vault_words: a document has one for each part of its text.
CREATE TABLE vault_index_parts (
    number INTEGER PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    document_id TEXT NOT NULL,
    first_page INTEGER NOT NULL,                -- 0: it has its name alone
    last_page INTEGER NOT NULL
) STRICT;
-- what is indexed of a document
CREATE INDEX vault_index_parts_of_document ON vault_index_parts (org_id, document_id, number);

-- Words come stemmed and behind their organization, as in org_x.invoic, so that what one asks for cannot be in the
-- text of another. `exact` has numbers and codes without what people write between their digits.
CREATE VIRTUAL TABLE vault_words USING fts5 (
    name, body, exact, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '_.'"
);
CREATE VIRTUAL TABLE vault_vocabulary USING fts5vocab (vault_words, row);

-- Passages of documents, and where they are in the space of meanings.
CREATE TABLE vault_chunks (
    number INTEGER PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    document_id TEXT NOT NULL,
    n INTEGER NOT NULL CHECK (n >= 0),
    page INTEGER NOT NULL,                      -- 0: the name alone
    start INTEGER NOT NULL,                     -- in characters of the page
    length INTEGER NOT NULL,
    digest BLOB NOT NULL,                       -- of what is embedded
    model TEXT NOT NULL,                        -- whose vector it is; empty: of none yet
    vector BLOB,                                -- float32, little-endian, of length 1
    code BLOB                                   -- the signs of the vector, a bit each
) STRICT;
-- the passages of a document
CREATE UNIQUE INDEX vault_chunks_of_document ON vault_chunks (org_id, document_id, n);
-- what is near in meaning: read from end to end, and it has all that this needs
CREATE INDEX vault_chunks_by_code ON vault_chunks (org_id, model, code, document_id) WHERE code IS NOT NULL;
-- what has no vector of the model that is used
CREATE INDEX vault_chunks_by_model ON vault_chunks (model, number);

INSERT INTO vault_index_queue (org_id, document_id, revision, queued_at)
SELECT org_id, id, 1, created_at FROM vault_documents WHERE status = 'uploaded';
