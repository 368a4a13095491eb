-- Made from the migration of SQLite by `make generate`.

-- Journeys on business by a vehicle of one's own, each with the entry by which profit and loss counts it.
CREATE TABLE journeys (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    external_id text COLLATE "C",
    legal_entity_id text COLLATE "C" NOT NULL,
    business_id text COLLATE "C" NOT NULL,
    tax_year text COLLATE "C" NOT NULL,
    date text COLLATE "C" NOT NULL,
    vehicle_kind text COLLATE "C" NOT NULL CHECK (vehicle_kind IN ('car', 'van', 'motorcycle', 'bicycle')),
    vehicle text COLLATE "C" NOT NULL,
    driver text COLLATE "C",                                -- NULL: the 10,000 miles are the business's
    miles text COLLATE "C" NOT NULL,                        -- decimal
    from_place text COLLATE "C" NOT NULL,
    to_place text COLLATE "C" NOT NULL,
    purpose text COLLATE "C" NOT NULL,
    passengers bigint NOT NULL CHECK (passengers >= 0),
    full_rate_miles text COLLATE "C" NOT NULL,              -- decimal: of these, at the higher rate
    amount bigint NOT NULL CHECK (amount > 0),
    currency text COLLATE "C" NOT NULL CHECK (currency = 'GBP'),
    allocation_id text COLLATE "C" NOT NULL UNIQUE,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1)
);

CREATE UNIQUE INDEX journeys_external_id ON journeys (org_id, external_id) WHERE external_id IS NOT NULL;

-- accounting.listJourneys newest first
CREATE INDEX journeys_page ON journeys (org_id, id);

-- and in the order of change
CREATE INDEX journeys_changes ON journeys (org_id, updated_at, id);

-- Those that share 10,000 miles, in their order
CREATE INDEX journeys_of_year ON journeys (org_id, legal_entity_id, tax_year, date, id);

-- Whether a vehicle is new, and what else a business has claimed
CREATE INDEX journeys_of_vehicle ON journeys (org_id, business_id, vehicle, allocation_id);

ALTER TABLE journeys ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE journeys ADD FOREIGN KEY (legal_entity_id) REFERENCES legal_entities (id);

ALTER TABLE journeys ADD FOREIGN KEY (business_id) REFERENCES businesses (id);

ALTER TABLE journeys ADD FOREIGN KEY (allocation_id) REFERENCES allocations (id);
