CREATE TABLE vault_folders (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,                     -- case-folded
    parent_id TEXT REFERENCES vault_folders (id), -- NULL: at the top
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;
-- externalId, once in an organization
CREATE UNIQUE INDEX vault_folders_by_external_id ON vault_folders (org_id, external_id) WHERE external_id IS NOT NULL;
-- what lies in a folder, and a name once in it
CREATE UNIQUE INDEX vault_folders_by_name ON vault_folders (org_id, coalesce(parent_id, ''), name_key);

CREATE TABLE vault_documents (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,                     -- case-folded
    date_key TEXT NOT NULL,                     -- the date of the document; empty: nobody said
    size_key INTEGER NOT NULL,                  -- of its bytes; -1: there are none
    original_name TEXT NOT NULL,
    mime_type TEXT NOT NULL,
    size_bytes INTEGER,                         -- of what was received; NULL: nothing was
    sha256 TEXT,
    page_count INTEGER,
    folder_id TEXT REFERENCES vault_folders (id), -- NULL: at the top
    starred INTEGER NOT NULL CHECK (starred = 0 OR starred = 1),
    thumbnail_url TEXT,
    contract_id TEXT,
    document_date TEXT,
    status TEXT NOT NULL CHECK (status = 'pending_upload' OR status = 'uploaded' OR status = 'deleted'),
    on_duplicate TEXT NOT NULL CHECK (on_duplicate = 'allow' OR on_duplicate = 'reject'),
    links TEXT NOT NULL,                        -- JSON
    upload_hash BLOB,                           -- SHA-256 of the token in the URL; NULL: it is used up
    upload_expires_at INTEGER NOT NULL,
    declared_size_bytes INTEGER,
    declared_sha256 TEXT,
    received_at INTEGER,
    confirmed_at INTEGER,
    created_by TEXT NOT NULL,
    deleted_at INTEGER,
    archive_until_date TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;
-- externalId, once in an organization
CREATE UNIQUE INDEX vault_documents_by_external_id ON vault_documents (org_id, external_id)
WHERE external_id IS NOT NULL;
-- whose URL was called
CREATE UNIQUE INDEX vault_documents_by_upload ON vault_documents (upload_hash) WHERE upload_hash IS NOT NULL;
-- what lies in a folder, by name
CREATE INDEX vault_documents_by_name ON vault_documents (org_id, coalesce(folder_id, ''), name_key, id)
WHERE status <> 'deleted';
-- the same, newest first
CREATE INDEX vault_documents_by_creation ON vault_documents (org_id, coalesce(folder_id, ''), id)
WHERE status <> 'deleted';
-- the same, latest first
CREATE INDEX vault_documents_by_date ON vault_documents (org_id, coalesce(folder_id, ''), date_key, id)
WHERE status <> 'deleted';
-- the same, largest first
CREATE INDEX vault_documents_by_size ON vault_documents (org_id, coalesce(folder_id, ''), size_key, id)
WHERE status <> 'deleted';
-- those with a star, newest first
CREATE INDEX vault_documents_starred ON vault_documents (org_id, id) WHERE starred = 1 AND status <> 'deleted';
-- the trash of an organization, newest first
CREATE INDEX vault_documents_in_trash ON vault_documents (org_id, id) WHERE status = 'deleted';
-- whether the bytes are there already, or are needed still
CREATE INDEX vault_documents_by_content ON vault_documents (sha256) WHERE sha256 IS NOT NULL;
-- the trash, oldest first
CREATE INDEX vault_documents_deleted ON vault_documents (deleted_at, id) WHERE deleted_at IS NOT NULL;

CREATE TABLE vault_accesses (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    reader TEXT NOT NULL,                       -- the user, or the credential that is nobody's
    document_id TEXT NOT NULL REFERENCES vault_documents (id),
    at INTEGER NOT NULL,
    PRIMARY KEY (org_id, reader, document_id)
) STRICT;
-- what somebody looked at last
CREATE INDEX vault_accesses_by_reader ON vault_accesses (org_id, reader, at, document_id);
-- who looked at a document
CREATE INDEX vault_accesses_of_document ON vault_accesses (document_id, at);

CREATE TABLE vault_links (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    document_id TEXT NOT NULL REFERENCES vault_documents (id),
    token_hash BLOB NOT NULL,                   -- SHA-256
    expires_at INTEGER,                         -- NULL: it is permanent
    password_hash TEXT,
    wrong_passwords INTEGER NOT NULL DEFAULT 0, -- in a row
    locked_until INTEGER,                       -- no password is looked at before
    max_downloads INTEGER,
    downloads INTEGER NOT NULL,
    variant TEXT NOT NULL,
    last_accessed_at INTEGER,
    revoked_at INTEGER,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;
-- whose link was called
CREATE UNIQUE INDEX vault_links_by_token ON vault_links (token_hash);
-- the links of a document, newest first
CREATE INDEX vault_links_of_document ON vault_links (org_id, document_id, id);
