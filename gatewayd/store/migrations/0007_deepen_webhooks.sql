-- A subscription remembers since when nothing but failures has come back. The table is made anew, because the closed
-- set of reasons grows; no other table refers to it.
CREATE TABLE webhook_subscriptions_next (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    url TEXT NOT NULL CHECK (length(url) BETWEEN 1 AND 2048),
    events TEXT NOT NULL CHECK (length(events) > 0),    -- event kinds, space separated, in the subscriber's order
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    disabled_reason TEXT CHECK (disabled_reason IN ('caller', 'receiver_gone', 'failing')),
    disabled_at INTEGER,
    failing_since INTEGER,                              -- the first failed attempt after the last success
    failing_told_at INTEGER,                            -- when it was announced that it will be disabled
    secret_sealed BLOB NOT NULL,                        -- encrypted at rest
    secret_prefix TEXT NOT NULL,                        -- what lists show of it
    previous_secret_sealed BLOB,                        -- signs beside the new one during a rotation
    previous_secret_expires_at INTEGER,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    CHECK ((disabled_reason IS NULL) = (enabled = 1)),
    CHECK ((disabled_at IS NULL) = (enabled = 1)),
    CHECK (failing_told_at IS NULL OR failing_since IS NOT NULL),
    CHECK ((previous_secret_sealed IS NULL) = (previous_secret_expires_at IS NULL))
) STRICT;

INSERT INTO webhook_subscriptions_next (id, org_id, url, events, enabled, disabled_reason, disabled_at, secret_sealed,
    secret_prefix, previous_secret_sealed, previous_secret_expires_at, created_by, created_at, updated_at, version)
SELECT id, org_id, url, events, enabled, disabled_reason, CASE WHEN enabled = 0 THEN updated_at END, secret_sealed,
    secret_prefix, previous_secret_sealed, previous_secret_expires_at, created_by, created_at, updated_at, version
FROM webhook_subscriptions;

DROP TABLE webhook_subscriptions;
ALTER TABLE webhook_subscriptions_next RENAME TO webhook_subscriptions;

-- Lists, the fan-out of an event, and the count against the limit: at most 50 rows of one organization
CREATE INDEX webhook_subscriptions_of_org ON webhook_subscriptions (org_id, id);

-- A test event is sent to one subscription alone, and never recovered.
ALTER TABLE events ADD COLUMN test INTEGER NOT NULL DEFAULT 0 CHECK (test IN (0, 1));
ALTER TABLE deliveries ADD COLUMN test INTEGER NOT NULL DEFAULT 0 CHECK (test IN (0, 1));

-- Recovery: the events of an organization since an instant
CREATE INDEX events_of_org ON events (org_id, id);
-- Lists and recovery by a status that is rare; what succeeds at once is never in it
CREATE INDEX deliveries_troubled ON deliveries (subscription_id, status, id)
    WHERE status IN ('retrying', 'exhausted', 'cancelled');
-- Whether a delivery was replayed already
CREATE INDEX deliveries_replays ON deliveries (replayed_from) WHERE replayed_from IS NOT NULL;

CREATE TABLE delivery_attempts (
    delivery_id TEXT NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL CHECK (attempt >= 1),
    org_id TEXT NOT NULL,
    wire BLOB NOT NULL,                                 -- its record as `include=attempts` shows it, serialized once
    PRIMARY KEY (delivery_id, attempt)
) STRICT, WITHOUT ROWID;
