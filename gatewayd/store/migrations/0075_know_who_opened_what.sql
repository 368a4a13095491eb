-- With whose membership a link and a subscription end; NULL: with nobody's, the operator made it or it is not known.
ALTER TABLE vault_links ADD COLUMN user_id TEXT;
UPDATE vault_links SET user_id = created_by WHERE created_by IN (SELECT id FROM users);

-- Lists of what is open, by organization
CREATE INDEX vault_links_open ON vault_links (org_id, id) WHERE revoked_at IS NULL;
CREATE INDEX vault_documents_awaited ON vault_documents (org_id, id) WHERE upload_hash IS NOT NULL;

-- Addresses that were given to somebody before are not good any more.
ALTER TABLE users ADD COLUMN addresses_since INTEGER NOT NULL DEFAULT 0;

-- The closed set of reasons grows; no other table refers to it.
CREATE TABLE webhook_subscriptions_next (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    url TEXT NOT NULL CHECK (length(url) BETWEEN 1 AND 2048),
    events TEXT NOT NULL CHECK (length(events) > 0),    -- event kinds, space separated, in the subscriber's order
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    disabled_reason TEXT CHECK (disabled_reason IN ('caller', 'receiver_gone', 'failing', 'maker_left', 'restored')),
    disabled_at INTEGER,
    failing_since INTEGER,                              -- the first failed attempt after the last success
    failing_told_at INTEGER,                            -- when it was announced that it will be disabled
    secret_sealed BLOB NOT NULL,                        -- encrypted at rest
    secret_prefix TEXT NOT NULL,                        -- what lists show of it
    previous_secret_sealed BLOB,                        -- signs beside the new one during a rotation
    previous_secret_expires_at INTEGER,
    user_id TEXT,                                       -- with whose membership it ends; NULL: with nobody's
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    CHECK ((disabled_reason IS NULL) = (enabled = 1)),
    CHECK ((disabled_at IS NULL) = (enabled = 1)),
    CHECK (failing_told_at IS NULL OR failing_since IS NOT NULL),
    CHECK ((previous_secret_sealed IS NULL) = (previous_secret_expires_at IS NULL))
) STRICT;

INSERT INTO webhook_subscriptions_next (id, org_id, url, events, enabled, disabled_reason, disabled_at, failing_since,
    failing_told_at, secret_sealed, secret_prefix, previous_secret_sealed, previous_secret_expires_at, user_id,
    created_by, created_at, updated_at, version)
SELECT id, org_id, url, events, enabled, disabled_reason, disabled_at, failing_since,
    failing_told_at, secret_sealed, secret_prefix, previous_secret_sealed, previous_secret_expires_at,
    (SELECT u.id FROM users u WHERE u.id = webhook_subscriptions.created_by),
    created_by, created_at, updated_at, version
FROM webhook_subscriptions;

DROP TABLE webhook_subscriptions;
ALTER TABLE webhook_subscriptions_next RENAME TO webhook_subscriptions;

-- Lists, the fan-out of an event, and the count against the limit: at most 50 rows of one organization
CREATE INDEX webhook_subscriptions_of_org ON webhook_subscriptions (org_id, id);
