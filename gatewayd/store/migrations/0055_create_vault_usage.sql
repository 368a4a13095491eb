-- What each organization keeps in its vault: quotas are asked for with every upload.
CREATE TABLE vault_usage (
    org_id TEXT PRIMARY KEY REFERENCES organizations (id),
    documents INTEGER NOT NULL CHECK (documents >= 0), -- that have bytes
    bytes INTEGER NOT NULL CHECK (bytes >= 0)
) STRICT;
INSERT INTO vault_usage (org_id, documents, bytes)
SELECT org_id, count(size_bytes), sum(size_bytes) FROM vault_documents WHERE size_bytes IS NOT NULL GROUP BY org_id;

DROP INDEX vault_documents_deleted;
-- the trash, oldest first, but for what has to be kept: that comes after the day until which it has
CREATE INDEX vault_documents_deleted ON vault_documents (coalesce(archive_until_date, ''), deleted_at, id)
WHERE deleted_at IS NOT NULL;
