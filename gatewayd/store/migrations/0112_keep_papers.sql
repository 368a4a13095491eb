-- What a seller's invoices look like, and say beside what each of them does.
CREATE TABLE papers (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    seller_key TEXT NOT NULL,                   -- the legal entity, or the organization that sells in its own name
    legal_entity_id TEXT REFERENCES legal_entities (id), -- NULL: the organization
    trading_name TEXT,
    owners TEXT,
    accent_color TEXT,                          -- #rrggbb
    logo_document_id TEXT,
    bank_account_id TEXT,
    register TEXT,
    registered_office TEXT,                     -- JSON
    terms TEXT,
    footer TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL
) STRICT;

-- That of a seller
CREATE UNIQUE INDEX papers_of_seller ON papers (org_id, seller_key);
-- What belongs to a legal entity
CREATE INDEX papers_of_entity ON papers (legal_entity_id);
