CREATE TABLE properties (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    business_id TEXT NOT NULL REFERENCES businesses (id),
    name TEXT NOT NULL,
    address TEXT,                               -- JSON
    uprn TEXT,
    jurisdiction TEXT NOT NULL CHECK (
        jurisdiction = 'england' OR jurisdiction = 'wales' OR jurisdiction = 'scotland'
        OR jurisdiction = 'northern_ireland' OR jurisdiction = 'other'
    ),
    type TEXT NOT NULL CHECK (
        type = 'house' OR type = 'flat' OR type = 'maisonette' OR type = 'bungalow' OR type = 'hmo' OR type = 'studio'
        OR type = 'block' OR type = 'commercial' OR type = 'mixed_use' OR type = 'land' OR type = 'garage'
        OR type = 'other'
    ),
    use TEXT NOT NULL CHECK (
        use = 'residential_let' OR use = 'commercial_let' OR use = 'mixed' OR use = 'holiday_let'
        OR use = 'rent_a_room' OR use = 'own_use' OR use = 'vacant'
    ),
    tenure TEXT CHECK (tenure = 'freehold' OR tenure = 'leasehold' OR tenure = 'commonhold' OR tenure = 'other'),
    lease_expiry_date TEXT,
    ground_rent_annual INTEGER,
    service_charge_annual INTEGER,
    furnished TEXT CHECK (furnished = 'furnished' OR furnished = 'part_furnished' OR furnished = 'unfurnished'),
    bedrooms INTEGER,
    area_sqm TEXT,
    owners TEXT NOT NULL,                       -- JSON; empty: the entity of the business alone
    owner_share_percent TEXT NOT NULL,          -- of the entity of the business
    acquisition_date TEXT,
    purchase_price INTEGER,
    acquisition_costs INTEGER,
    improvement_costs INTEGER,
    disposal_date TEXT,
    disposal_proceeds INTEGER,
    disposal_costs INTEGER,
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    local_authority TEXT,
    council_tax_band TEXT,
    licensing TEXT NOT NULL CHECK (
        licensing = 'none' OR licensing = 'mandatory_hmo' OR licensing = 'additional_hmo' OR licensing = 'selective'
        OR licensing = 'unknown'
    ),
    gas_supply INTEGER CHECK (gas_supply = 0 OR gas_supply = 1),
    foreign_property_id TEXT,
    status TEXT NOT NULL CHECK (status = 'active' OR status = 'under_offer' OR status = 'sold' OR status = 'archived'),
    archived_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    search_text TEXT NOT NULL,                  -- names and address, case-folded
    CHECK ((status = 'archived') = (archived_at IS NOT NULL))
) STRICT;
-- externalId, once in an organization
CREATE UNIQUE INDEX properties_by_external_id ON properties (org_id, external_id) WHERE external_id IS NOT NULL;
-- the list, newest first
CREATE INDEX properties_by_id ON properties (org_id, id);
-- the list with updatedSince
CREATE INDEX properties_by_change ON properties (org_id, updated_at, id);
-- the properties of a business
CREATE INDEX properties_of_business ON properties (org_id, business_id, id);

CREATE TABLE property_units (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    property_id TEXT NOT NULL REFERENCES properties (id),
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,                     -- case-folded
    type TEXT NOT NULL CHECK (
        type = 'whole' OR type = 'room' OR type = 'flat' OR type = 'commercial_unit' OR type = 'parking'
        OR type = 'storage' OR type = 'other'
    ),
    floor TEXT,
    bedrooms INTEGER,
    area_sqm TEXT,
    market_rent INTEGER,
    rent_frequency TEXT CHECK (
        rent_frequency = 'weekly' OR rent_frequency = 'fortnightly' OR rent_frequency = 'four_weekly'
        OR rent_frequency = 'monthly' OR rent_frequency = 'quarterly' OR rent_frequency = 'annually'
    ),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    archived_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;
-- externalId, once in an organization
CREATE UNIQUE INDEX property_units_by_external_id ON property_units (org_id, external_id)
WHERE external_id IS NOT NULL;
-- a name, once in a property
CREATE UNIQUE INDEX property_units_by_name ON property_units (property_id, name_key);
-- the list, newest first
CREATE INDEX property_units_by_id ON property_units (org_id, id);
-- the list with updatedSince
CREATE INDEX property_units_by_change ON property_units (org_id, updated_at, id);
-- the units of a property
CREATE INDEX property_units_of_property ON property_units (org_id, property_id, id);

CREATE TABLE tenants (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    kind TEXT NOT NULL CHECK (kind = 'person' OR kind = 'company'),
    first_name TEXT,
    last_name TEXT,
    company_name TEXT,
    company_number TEXT,
    email TEXT,
    phone TEXT,
    correspondence_address TEXT,                -- JSON
    right_to_rent_status TEXT NOT NULL CHECK (
        right_to_rent_status = 'not_checked' OR right_to_rent_status = 'passed'
        OR right_to_rent_status = 'time_limited' OR right_to_rent_status = 'failed' OR right_to_rent_status = 'exempt'
    ),
    right_to_rent_checked_date TEXT,
    right_to_rent_expiry_date TEXT,
    guarantor TEXT,                             -- JSON
    notes TEXT,
    anonymised_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    search_text TEXT NOT NULL                   -- names, email and phone, case-folded
) STRICT;
-- externalId, once in an organization
CREATE UNIQUE INDEX tenants_by_external_id ON tenants (org_id, external_id) WHERE external_id IS NOT NULL;
-- the list, newest first
CREATE INDEX tenants_by_id ON tenants (org_id, id);
-- the list with updatedSince
CREATE INDEX tenants_by_change ON tenants (org_id, updated_at, id);

CREATE TABLE tenancies (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    property_id TEXT NOT NULL REFERENCES properties (id),
    unit_id TEXT REFERENCES property_units (id), -- NULL: the whole property
    tenant_ids TEXT NOT NULL,                   -- JSON, the lead first
    type TEXT NOT NULL CHECK (
        type = 'assured_periodic' OR type = 'assured_shorthold' OR type = 'occupation_contract'
        OR type = 'private_residential_tenancy' OR type = 'private_tenancy_ni' OR type = 'regulated' OR type = 'lodger'
        OR type = 'company_let' OR type = 'commercial_lease' OR type = 'other'
    ),
    start_date TEXT NOT NULL,
    end_date TEXT,
    rent_frequency TEXT NOT NULL CHECK (
        rent_frequency = 'weekly' OR rent_frequency = 'fortnightly' OR rent_frequency = 'four_weekly'
        OR rent_frequency = 'monthly' OR rent_frequency = 'quarterly' OR rent_frequency = 'annually'
    ),
    rent_due_day INTEGER NOT NULL CHECK (rent_due_day BETWEEN 1 AND 31),
    bills_included INTEGER NOT NULL CHECK (bills_included = 0 OR bills_included = 1),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    rent_history TEXT NOT NULL,                 -- JSON, oldest first; the first is of the start
    deposit_amount INTEGER,
    deposit_scheme TEXT CHECK (
        deposit_scheme = 'dps' OR deposit_scheme = 'tds' OR deposit_scheme = 'mydeposits'
        OR deposit_scheme = 'safedeposits_scotland' OR deposit_scheme = 'lps_scotland' OR deposit_scheme = 'tdsni'
        OR deposit_scheme = 'none'
    ),
    deposit_reference TEXT,
    deposit_protected_date TEXT,
    deposit_returned_amount INTEGER,
    deposit_returned_date TEXT,
    notice_served_date TEXT,
    notice_by TEXT CHECK (notice_by = 'landlord' OR notice_by = 'tenant'),
    notice_expiry_date TEXT,
    notes TEXT,
    cancelled_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;
-- externalId, once in an organization
CREATE UNIQUE INDEX tenancies_by_external_id ON tenancies (org_id, external_id) WHERE external_id IS NOT NULL;
-- the list, newest first
CREATE INDEX tenancies_by_id ON tenancies (org_id, id);
-- the list with updatedSince
CREATE INDEX tenancies_by_change ON tenancies (org_id, updated_at, id);
-- the tenancies of a property, by when they begin
CREATE INDEX tenancies_of_property ON tenancies (org_id, property_id, start_date, id);
-- what ends, or has ended
CREATE INDEX tenancies_by_end ON tenancies (org_id, end_date, id);

CREATE TABLE tenancy_tenants (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    tenancy_id TEXT NOT NULL REFERENCES tenancies (id),
    tenant_id TEXT NOT NULL REFERENCES tenants (id),
    PRIMARY KEY (tenancy_id, tenant_id)
) STRICT;
-- the tenancies of a tenant
CREATE INDEX tenancy_tenants_of_tenant ON tenancy_tenants (org_id, tenant_id, tenancy_id);

CREATE TABLE mortgages (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    property_id TEXT NOT NULL REFERENCES properties (id),
    lender TEXT NOT NULL,
    account_number_masked TEXT,
    type TEXT NOT NULL CHECK (type = 'repayment' OR type = 'interest_only' OR type = 'part_and_part'),
    rate_type TEXT CHECK (
        rate_type = 'fixed' OR rate_type = 'tracker' OR rate_type = 'variable' OR rate_type = 'discount'
        OR rate_type = 'offset'
    ),
    interest_rate TEXT NOT NULL,                -- percent a year; the last of its history
    rate_history TEXT NOT NULL,                 -- JSON, oldest first; the first is of the start
    rate_end_date TEXT,
    reversion_rate TEXT,
    original_amount INTEGER NOT NULL CHECK (original_amount > 0),
    start_date TEXT NOT NULL,
    term_months INTEGER CHECK (term_months > 0),
    monthly_payment INTEGER CHECK (monthly_payment > 0),
    current_balance INTEGER CHECK (current_balance >= 0), -- the last of its history
    balance_date TEXT,
    balance_history TEXT NOT NULL,              -- JSON, oldest first
    erc_until_date TEXT,
    erc_percent TEXT,
    business_purpose_percent TEXT NOT NULL,
    redeemed_date TEXT,
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    CHECK ((current_balance IS NULL) = (balance_date IS NULL))
) STRICT;
-- externalId, once in an organization
CREATE UNIQUE INDEX mortgages_by_external_id ON mortgages (org_id, external_id) WHERE external_id IS NOT NULL;
-- the list, newest first
CREATE INDEX mortgages_by_id ON mortgages (org_id, id);
-- the list with updatedSince
CREATE INDEX mortgages_by_change ON mortgages (org_id, updated_at, id);
-- the mortgages of a property
CREATE INDEX mortgages_of_property ON mortgages (org_id, property_id, id);
-- rates that end, the soonest first
CREATE INDEX mortgages_by_rate_end ON mortgages (org_id, rate_end_date, id) WHERE rate_end_date IS NOT NULL;
-- what is redeemed, newest first
CREATE INDEX mortgages_redeemed ON mortgages (org_id, id) WHERE redeemed_date IS NOT NULL;

CREATE TABLE property_valuations (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    property_id TEXT NOT NULL REFERENCES properties (id),
    valuation_date TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    method TEXT NOT NULL CHECK (
        method = 'purchase' OR method = 'surveyor' OR method = 'agent' OR method = 'automated'
        OR method = 'house_price_index' OR method = 'owner_estimate' OR method = 'tribunal'
    ),
    source TEXT,
    confidence TEXT CHECK (confidence = 'low' OR confidence = 'medium' OR confidence = 'high'),
    document_id TEXT,
    notes TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;
-- externalId, once in an organization
CREATE UNIQUE INDEX property_valuations_by_external_id ON property_valuations (org_id, external_id)
WHERE external_id IS NOT NULL;
-- the valuations of a property, by day; of a day the latest counts
CREATE INDEX property_valuations_of_property ON property_valuations (org_id, property_id, valuation_date, id);

CREATE TABLE certificates (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    property_id TEXT NOT NULL REFERENCES properties (id),
    unit_id TEXT REFERENCES property_units (id), -- NULL: the whole property
    tenancy_id TEXT REFERENCES tenancies (id),
    type TEXT NOT NULL,
    title TEXT,
    reference TEXT,
    issued_date TEXT NOT NULL,
    expiry_date TEXT,
    issuer_name TEXT,
    issuer_registration TEXT,
    result TEXT CHECK (result = 'satisfactory' OR result = 'unsatisfactory' OR result = 'not_applicable'),
    rating TEXT,
    score INTEGER,
    remedial_due_date TEXT,
    remedial_done_date TEXT,
    served_date TEXT,
    document_id TEXT,
    cost INTEGER CHECK (cost >= 0),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    superseded_by_id TEXT REFERENCES certificates (id), -- the next of its chain
    superseded_date TEXT,                       -- when that one was issued
    chain TEXT NOT NULL,                        -- what those of a property and type share that follow each other
    valid_until TEXT NOT NULL,                  -- 9999-12-31: without an end; empty: it found faults
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    CHECK (expiry_date >= issued_date),
    CHECK ((superseded_by_id IS NULL) = (superseded_date IS NULL))
) STRICT;
-- externalId, once in an organization
CREATE UNIQUE INDEX certificates_by_external_id ON certificates (org_id, external_id) WHERE external_id IS NOT NULL;
-- the list, newest first
CREATE INDEX certificates_by_id ON certificates (org_id, id);
-- the list with updatedSince
CREATE INDEX certificates_by_change ON certificates (org_id, updated_at, id);
-- the certificates of a property by kind, in the order in which they follow each other
CREATE INDEX certificates_of_property ON certificates (org_id, property_id, type, chain, issued_date, id);
-- what expires
CREATE INDEX certificates_by_expiry ON certificates (org_id, valid_until, id) WHERE superseded_by_id IS NULL;
-- what expires of a property
CREATE INDEX certificates_of_property_by_expiry ON certificates (org_id, property_id, valid_until, id)
WHERE superseded_by_id IS NULL;
-- the certificates of a property, newest first
CREATE INDEX certificates_of_property_by_id ON certificates (org_id, property_id, id);
-- the certificates of a kind, newest first
CREATE INDEX certificates_by_type ON certificates (org_id, type, id);
-- what was superseded, newest first
CREATE INDEX certificates_superseded ON certificates (org_id, id) WHERE superseded_by_id IS NOT NULL;
