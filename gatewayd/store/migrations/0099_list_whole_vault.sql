-- vault.listDocuments, over all folders: newest first, latest date first, in the order of change, and the few that wait.
CREATE INDEX vault_documents_by_id ON vault_documents (org_id, id) WHERE status <> 'deleted';
CREATE INDEX vault_documents_by_document_date ON vault_documents (org_id, date_key, id) WHERE status <> 'deleted';
CREATE INDEX vault_documents_by_change ON vault_documents (org_id, updated_at, id);
CREATE INDEX vault_documents_to_come ON vault_documents (org_id, status, id) WHERE status = 'pending_upload';
CREATE INDEX vault_documents_of_contract ON vault_documents (org_id, contract_id, id)
WHERE contract_id IS NOT NULL AND status <> 'deleted';

DROP INDEX vault_documents_starred;
-- vault.getStarredDocuments: its condition is a column too, so that it goes before the one over all documents.
CREATE INDEX vault_documents_starred ON vault_documents (org_id, starred, id) WHERE starred = 1 AND status <> 'deleted';

-- landlord.listPropertyValuations, over all properties: latest first, and in the order of change.
CREATE INDEX property_valuations_by_date ON property_valuations (org_id, valuation_date, id);
CREATE INDEX property_valuations_by_change ON property_valuations (org_id, updated_at, id);
