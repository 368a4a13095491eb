-- What each organization keeps in its vault: quotas are asked for with every upload.
CREATE TABLE vault_usage (
    org_id TEXT PRIMARY KEY REFERENCES organizations (id),
    documents INTEGER NOT NULL CHECK (documents >= 0), -- that have bytes
    bytes INTEGER NOT NULL CHECK (bytes >= 0)
) STRICT;
INSERT INTO vault_usage (org_id, documents, bytes)
SELECT org_id, count(size_bytes), sum(size_bytes) FROM vault_documents WHERE size_bytes IS NOT NULL GROUP BY org_id;

DROP INDEX vault_documents_deleted;
-- the trash, oldest first; what has to be kept is passed over without a look at its row
CREATE INDEX vault_documents_deleted ON vault_documents (deleted_at, id, archive_until_date, org_id)
WHERE deleted_at IS NOT NULL;
