-- What held up to a closed day, of what has no days of its own: the VAT scheme with what goes with it, and shares.

CREATE TABLE former_vat_terms (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    legal_entity_id TEXT NOT NULL REFERENCES legal_entities (id),
    last_day TEXT NOT NULL,                     -- ISO date; from the day after that of the row before it on
    scheme TEXT,                                -- all of these as in legal_entities
    flat_rate_category TEXT,
    flat_rate_percent TEXT,
    flat_rate_start_date TEXT,
    registered_from TEXT,                       -- from which the discount of the first year counts
    PRIMARY KEY (org_id, legal_entity_id, last_day)
) STRICT, WITHOUT ROWID;

CREATE TABLE former_owner_shares (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    business_id TEXT NOT NULL REFERENCES businesses (id),
    property_id TEXT NOT NULL,                  -- empty: of the business itself
    last_day TEXT NOT NULL,                     -- as above
    percent TEXT,                               -- NULL: of a property, as the business says
    PRIMARY KEY (org_id, business_id, property_id, last_day)
) STRICT, WITHOUT ROWID;
