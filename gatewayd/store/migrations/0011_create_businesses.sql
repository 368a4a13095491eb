CREATE TABLE businesses (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    legal_entity_id TEXT NOT NULL REFERENCES legal_entities (id),
    external_id TEXT,
    type TEXT NOT NULL CHECK (type IN (
        'self_employment', 'uk_property', 'foreign_property', 'property_unspecified', 'company_trade', 'other')),
    name TEXT NOT NULL,
    trading_name TEXT,
    trading_type TEXT,
    -- pending is active with a commencement date to come; archived is archived_at
    status TEXT NOT NULL CHECK (status IN ('active', 'dormant', 'ceased')),
    commencement_date TEXT,
    cessation_date TEXT,
    accounting_basis TEXT NOT NULL CHECK (accounting_basis IN ('cash', 'accruals')),
    quarterly_period_type TEXT NOT NULL CHECK (quarterly_period_type IN ('standard', 'calendar')),
    quarterly_period_tax_year TEXT,             -- of the choice; NULL: none was made
    uses_consolidated_expenses INTEGER NOT NULL CHECK (uses_consolidated_expenses IN (0, 1)),
    address TEXT,                               -- JSON
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    bank_account_ids TEXT NOT NULL,             -- JSON
    owner_share_percent TEXT NOT NULL,
    tax_business_id TEXT,                       -- the tax authority's own name for it
    tax_sync_status TEXT NOT NULL CHECK (tax_sync_status IN ('never', 'in_sync', 'differs', 'failed', 'not_found')),
    tax_synced_at INTEGER,
    tax_sync_error TEXT,
    tax_latency TEXT,                           -- JSON
    tax_year_of_migration TEXT,
    archive_reason TEXT,
    archived_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    wire BLOB NOT NULL,                         -- the JSON without status and the closing brace
    CHECK (status <> 'ceased' OR cessation_date IS NOT NULL),
    CHECK (archive_reason IS NULL OR archived_at IS NOT NULL)
) STRICT;

-- Newest first
CREATE INDEX businesses_page ON businesses (org_id, id);
-- updatedSince
CREATE INDEX businesses_changes ON businesses (org_id, updated_at, id);
-- legalEntityId; all of an entity; its live property business
CREATE INDEX businesses_of_entity ON businesses (org_id, legal_entity_id, id);
CREATE UNIQUE INDEX businesses_external_id ON businesses (org_id, external_id) WHERE external_id IS NOT NULL;
CREATE UNIQUE INDEX businesses_tax_business_id ON businesses (org_id, legal_entity_id, tax_business_id)
    WHERE tax_business_id IS NOT NULL;
