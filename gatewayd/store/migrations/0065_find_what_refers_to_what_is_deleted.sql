-- Where a row is deleted, SQLite looks for what still refers to it, by its foreign key alone: with the organization in
-- front, an index is gone through whole, for each document that leaves the trash.

DROP INDEX line_documents_of_document;
DROP INDEX vault_links_of_document;

-- The lines that a document belongs to.
CREATE INDEX line_documents_of_document ON line_documents (document_id, org_id);

-- The links of a document, newest first.
CREATE INDEX vault_links_of_document ON vault_links (document_id, org_id, id);

-- Nothing but deletions asks for these.
CREATE INDEX vault_pages_of_document ON vault_pages (document_id);
CREATE INDEX vault_parse_attempts_of_document ON vault_parse_attempts (document_id);
CREATE INDEX vault_parses_of_document ON vault_parses (document_id);
CREATE INDEX vault_variants_of_document ON vault_variants (document_id);
CREATE INDEX vault_proposals_of_document ON vault_proposals (document_id);
CREATE INDEX vault_documents_of_folder ON vault_documents (folder_id) WHERE folder_id IS NOT NULL;
CREATE INDEX vault_folders_of_parent ON vault_folders (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX certificates_of_successor ON certificates (superseded_by_id) WHERE superseded_by_id IS NOT NULL;
CREATE INDEX authorization_requests_of_session ON authorization_requests (session_id) WHERE session_id IS NOT NULL;
