-- Journeys on business by a vehicle of one's own, each with the entry by which profit and loss counts it.
CREATE TABLE journeys (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    external_id TEXT,
    legal_entity_id TEXT NOT NULL REFERENCES legal_entities (id),
    business_id TEXT NOT NULL REFERENCES businesses (id),
    tax_year TEXT NOT NULL,
    date TEXT NOT NULL,
    vehicle_kind TEXT NOT NULL CHECK (vehicle_kind IN ('car', 'van', 'motorcycle', 'bicycle')),
    vehicle TEXT NOT NULL,
    driver TEXT,                                -- NULL: the 10,000 miles are the business's
    miles TEXT NOT NULL,                        -- decimal
    from_place TEXT NOT NULL,
    to_place TEXT NOT NULL,
    purpose TEXT NOT NULL,
    passengers INTEGER NOT NULL CHECK (passengers >= 0),
    full_rate_miles TEXT NOT NULL,              -- decimal: of these, at the higher rate
    amount INTEGER NOT NULL CHECK (amount > 0),
    currency TEXT NOT NULL CHECK (currency = 'GBP'),
    allocation_id TEXT NOT NULL UNIQUE REFERENCES allocations (id),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

CREATE UNIQUE INDEX journeys_external_id ON journeys (org_id, external_id) WHERE external_id IS NOT NULL;
-- accounting.listJourneys newest first
CREATE INDEX journeys_page ON journeys (org_id, id);
-- and in the order of change
CREATE INDEX journeys_changes ON journeys (org_id, updated_at, id);
-- Those that share 10,000 miles, in their order
CREATE INDEX journeys_of_year ON journeys (org_id, legal_entity_id, tax_year, date, id);
-- Whether a vehicle is new, and what else a business has claimed
CREATE INDEX journeys_of_vehicle ON journeys (org_id, business_id, vehicle, allocation_id);
