-- The rent that came for each tenancy, less what was given back, kept with its allocations.
CREATE TABLE rents_received (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    tenancy_id TEXT NOT NULL REFERENCES tenancies (id),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    amount INTEGER NOT NULL,                    -- minor units, of all dates; below 0: more was given back
    PRIMARY KEY (org_id, tenancy_id, currency)
) STRICT, WITHOUT ROWID;

INSERT INTO rents_received (org_id, tenancy_id, currency, amount)
SELECT a.org_id, a.tenancy_id, a.currency, sum(CASE WHEN a.direction = 'in' THEN a.amount ELSE -a.amount END)
FROM allocations AS a JOIN tenancies AS t ON t.org_id = a.org_id AND t.id = a.tenancy_id
WHERE a.category = 'periodAmount' OR a.category = 'rentARoomRentsReceived' OR a.category = 'turnover'
GROUP BY a.org_id, a.tenancy_id, a.currency;
