-- Which documents belong to which bank line, so that whatever is allocated of it has them.
CREATE TABLE line_documents (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    bank_transaction_id TEXT NOT NULL,          -- without a reference: an import that is undone takes its lines along
    document_id TEXT NOT NULL REFERENCES vault_documents (id),
    PRIMARY KEY (org_id, bank_transaction_id, document_id)
) STRICT;
-- the lines of a document that goes for good
CREATE INDEX line_documents_of_document ON line_documents (org_id, document_id);

INSERT INTO line_documents (org_id, bank_transaction_id, document_id)
SELECT DISTINCT d.org_id, json_extract(link.value, '$.id'), d.id FROM vault_documents d, json_each(d.links) link
WHERE json_extract(link.value, '$.type') = 'bank_transaction';

-- Documents whose reading may propose something, and what somebody said to it. What is proposed follows from the facts
-- whenever it is asked for.
CREATE TABLE vault_proposals (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    document_id TEXT NOT NULL REFERENCES vault_documents (id),
    kind TEXT NOT NULL CHECK (kind = 'bank_line'),
    decision TEXT CHECK (decision = 'accepted' OR decision = 'dismissed'), -- NULL: nobody has decided
    target_id TEXT,                             -- what was accepted: the bank line
    decided_by TEXT,
    decided_at INTEGER,
    PRIMARY KEY (org_id, document_id)
) STRICT;
-- vault.listProposals: what nobody has decided, newest first
CREATE INDEX vault_proposals_open ON vault_proposals (org_id, document_id) WHERE decision IS NULL;
-- the same of one kind
CREATE INDEX vault_proposals_open_by_kind ON vault_proposals (org_id, kind, document_id) WHERE decision IS NULL;

INSERT INTO vault_proposals (org_id, document_id, kind)
SELECT org_id, document_id, 'bank_line' FROM vault_parses
WHERE json_extract(extracted, '$.kind') IN ('invoice', 'receipt') AND json_extract(extracted, '$.total') IS NOT NULL;
