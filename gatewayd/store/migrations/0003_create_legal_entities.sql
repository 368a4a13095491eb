CREATE TABLE legal_entities (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    name TEXT NOT NULL,
    legal_name TEXT,
    type TEXT NOT NULL CHECK (type IN (
        'individual', 'sole_trader', 'limited_company', 'llp', 'partnership', 'trust', 'charity', 'club', 'other')),
    company_number TEXT,
    utr TEXT,
    nino_sealed BLOB,                           -- encrypted at rest
    nino_hint TEXT,                             -- the last three characters
    vat_number TEXT,                            -- nine digits, without GB
    vat_status TEXT NOT NULL CHECK (vat_status IN ('not_registered', 'registered', 'deregistered', 'pending')),
    vat_effective_date TEXT,
    vat_deregistration_date TEXT,
    vat_scheme TEXT CHECK (vat_scheme IN ('standard', 'cash', 'flat_rate', 'annual')),
    vat_return_frequency TEXT CHECK (vat_return_frequency IN ('monthly', 'quarterly', 'annual')),
    vat_stagger_group INTEGER CHECK (vat_stagger_group BETWEEN 1 AND 3),
    vat_period_end_month INTEGER CHECK (vat_period_end_month BETWEEN 1 AND 12),
    vat_flat_rate_category TEXT,
    vat_flat_rate_percent TEXT,
    vat_flat_rate_start_date TEXT,
    year_end_month INTEGER NOT NULL CHECK (year_end_month BETWEEN 1 AND 12),
    year_end_day INTEGER NOT NULL CHECK (year_end_day BETWEEN 1 AND 31),
    base_currency TEXT NOT NULL CHECK (length(base_currency) = 3),
    country_code TEXT NOT NULL CHECK (length(country_code) = 2),
    tax_residency TEXT CHECK (tax_residency IN ('england_ni', 'scotland', 'wales', 'non_uk')),
    address TEXT,                               -- JSON
    email TEXT,
    phone TEXT,
    website TEXT,
    cis_contractor INTEGER NOT NULL CHECK (cis_contractor IN (0, 1)),
    cis_subcontractor INTEGER NOT NULL CHECK (cis_subcontractor IN (0, 1)),
    cis_verified_rate INTEGER CHECK (cis_verified_rate IN (0, 20, 30)),
    archived_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    search_text TEXT NOT NULL,                  -- names and numbers, case-folded
    wire BLOB NOT NULL                          -- the JSON without utr, nino and the closing brace
) STRICT;

-- Newest first
CREATE INDEX legal_entities_page ON legal_entities (org_id, id);
-- updatedSince
CREATE INDEX legal_entities_changes ON legal_entities (org_id, updated_at, id);
CREATE UNIQUE INDEX legal_entities_external_id ON legal_entities (org_id, external_id) WHERE external_id IS NOT NULL;
CREATE UNIQUE INDEX legal_entities_vat_number ON legal_entities (org_id, vat_number) WHERE vat_number IS NOT NULL;
CREATE UNIQUE INDEX legal_entities_company_number ON legal_entities (org_id, company_number)
    WHERE company_number IS NOT NULL;
