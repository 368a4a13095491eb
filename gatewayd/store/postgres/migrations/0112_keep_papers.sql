-- Made from the migration of SQLite by `make generate`.

-- What a seller's invoices look like, and say beside what each of them does.
CREATE TABLE papers (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    seller_key text COLLATE "C" NOT NULL,                   -- the legal entity, or the organization that sells in its own name
    legal_entity_id text COLLATE "C", -- NULL: the organization
    trading_name text COLLATE "C",
    owners text COLLATE "C",
    accent_color text COLLATE "C",                          -- #rrggbb
    logo_document_id text COLLATE "C",
    bank_account_id text COLLATE "C",
    register text COLLATE "C",
    registered_office text COLLATE "C",                     -- JSON
    terms text COLLATE "C",
    footer text COLLATE "C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL
);

-- That of a seller
CREATE UNIQUE INDEX papers_of_seller ON papers (org_id, seller_key);

-- What belongs to a legal entity
CREATE INDEX papers_of_entity ON papers (legal_entity_id);

ALTER TABLE papers ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE papers ADD FOREIGN KEY (legal_entity_id) REFERENCES legal_entities (id);
