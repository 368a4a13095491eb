CREATE TABLE leads (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    source TEXT NOT NULL CHECK (length(source) BETWEEN 1 AND 64),
    name TEXT,
    email TEXT,
    phone TEXT,
    company TEXT,
    notes TEXT,
    status TEXT NOT NULL CHECK (status IN ('new', 'contacted', 'qualified', 'disqualified', 'converted')),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

-- Newest first
CREATE INDEX leads_page ON leads (org_id, id);
-- updatedSince
CREATE INDEX leads_changes ON leads (org_id, updated_at, id);
CREATE UNIQUE INDEX leads_external_id ON leads (org_id, external_id) WHERE external_id IS NOT NULL;

CREATE TABLE opportunities (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    lead_id TEXT REFERENCES leads (id),
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 160),
    pipeline_id TEXT NOT NULL CHECK (length(pipeline_id) BETWEEN 1 AND 64),
    stage TEXT NOT NULL CHECK (length(stage) BETWEEN 1 AND 64),
    amount INTEGER CHECK (amount >= 0),                 -- minor units
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

-- Newest first
CREATE INDEX opportunities_page ON opportunities (org_id, id);
-- updatedSince
CREATE INDEX opportunities_changes ON opportunities (org_id, updated_at, id);
-- Those of one lead, and the foreign key's check
CREATE INDEX opportunities_of_lead ON opportunities (lead_id, id) WHERE lead_id IS NOT NULL;
CREATE UNIQUE INDEX opportunities_external_id ON opportunities (org_id, external_id) WHERE external_id IS NOT NULL;
