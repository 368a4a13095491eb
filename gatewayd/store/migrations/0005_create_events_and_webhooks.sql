CREATE TABLE webhook_subscriptions (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    url TEXT NOT NULL CHECK (length(url) BETWEEN 1 AND 2048),
    events TEXT NOT NULL CHECK (length(events) > 0),    -- event kinds, space separated, in the subscriber's order
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    disabled_reason TEXT CHECK (disabled_reason IN ('caller', 'receiver_gone')),
    secret_sealed BLOB NOT NULL,                        -- encrypted at rest
    secret_prefix TEXT NOT NULL,                        -- what lists show of it
    previous_secret_sealed BLOB,                        -- signs beside the new one during a rotation
    previous_secret_expires_at INTEGER,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    CHECK ((disabled_reason IS NULL) = (enabled = 1)),
    CHECK ((previous_secret_sealed IS NULL) = (previous_secret_expires_at IS NULL))
) STRICT;

-- Lists, the fan-out of an event, and the count against the limit: at most 50 rows of one organization
CREATE INDEX webhook_subscriptions_of_org ON webhook_subscriptions (org_id, id);

CREATE TABLE events (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    kind TEXT NOT NULL CHECK (length(kind) BETWEEN 1 AND 64),   -- the closed set is EVENT_KINDS of events.py
    data BLOB NOT NULL,                                 -- JSON, serialized once
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE deliveries (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    subscription_id TEXT NOT NULL,                      -- outlives its subscription, as evidence
    event_id TEXT NOT NULL REFERENCES events (id),
    event TEXT NOT NULL,                                -- the event's kind
    status TEXT NOT NULL CHECK (status IN ('pending', 'retrying', 'succeeded', 'exhausted', 'cancelled')),
    attempts INTEGER NOT NULL CHECK (attempts >= 0),    -- counted when begun, before the POST
    in_flight INTEGER NOT NULL CHECK (in_flight IN (0, 1)),
    due_at INTEGER,                                     -- next attempt or, in flight, end of the lease; NULL: finished
    response_code INTEGER,
    last_error TEXT,
    last_attempt_at INTEGER,
    duration_ms INTEGER CHECK (duration_ms >= 0),
    completed_at INTEGER,
    replayed_from TEXT,
    created_at INTEGER NOT NULL,
    CHECK ((due_at IS NOT NULL) = (status IN ('pending', 'retrying'))),
    CHECK ((completed_at IS NULL) = (due_at IS NOT NULL)),
    CHECK (in_flight = 0 OR (due_at IS NOT NULL AND attempts > 0))
) STRICT;

-- The dispatcher: which subscription comes next, and what of it is due first. Finished rows are not in it.
CREATE INDEX deliveries_queue ON deliveries (subscription_id, due_at, id) WHERE due_at IS NOT NULL;
-- listDeliveries, newest first
CREATE INDEX deliveries_of_subscription ON deliveries (subscription_id, id);
-- The foreign key's check when an event is swept
CREATE INDEX deliveries_of_event ON deliveries (event_id);
