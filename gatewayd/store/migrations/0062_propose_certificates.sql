-- Documents propose certificates too. The table is made anew, for another kind stands in it.
CREATE TABLE vault_proposals_next (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    document_id TEXT NOT NULL REFERENCES vault_documents (id),
    kind TEXT NOT NULL CHECK (kind = 'bank_line' OR kind = 'certificate'),
    decision TEXT CHECK (decision = 'accepted' OR decision = 'dismissed'), -- NULL: nobody has decided
    target_id TEXT,                             -- what was accepted: the bank line, or the certificate that was made
    decided_by TEXT,
    decided_at INTEGER,
    PRIMARY KEY (org_id, document_id)
) STRICT;

INSERT INTO vault_proposals_next (org_id, document_id, kind, decision, target_id, decided_by, decided_at)
SELECT org_id, document_id, kind, decision, target_id, decided_by, decided_at FROM vault_proposals;

DROP TABLE vault_proposals;
ALTER TABLE vault_proposals_next RENAME TO vault_proposals;
-- vault.listProposals: what nobody has decided, newest first
CREATE INDEX vault_proposals_open ON vault_proposals (org_id, document_id) WHERE decision IS NULL;
-- the same of one kind
CREATE INDEX vault_proposals_open_by_kind ON vault_proposals (org_id, kind, document_id) WHERE decision IS NULL;

INSERT INTO vault_proposals (org_id, document_id, kind)
SELECT org_id, document_id, 'certificate' FROM vault_parses
WHERE json_extract(extracted, '$.kind') = 'certificate'
    AND json_extract(extracted, '$.certificate.type') IN ('gas_safety', 'eicr', 'epc')
    AND json_extract(extracted, '$.certificate.postcode') IS NOT NULL
ON CONFLICT (org_id, document_id) DO NOTHING;

-- however it is spaced
ALTER TABLE properties ADD COLUMN postcode_key TEXT NOT NULL DEFAULT '';

UPDATE properties SET postcode_key = upper(replace(coalesce(json_extract(address, '$.postcode'), ''), ' ', ''));

-- the properties that a certificate may be of
CREATE INDEX properties_by_postcode ON properties (org_id, postcode_key, id);
-- the certificate that was made of a document
CREATE INDEX certificates_of_document ON certificates (org_id, document_id) WHERE document_id IS NOT NULL;
