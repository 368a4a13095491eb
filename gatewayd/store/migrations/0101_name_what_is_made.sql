-- The caller's own identifiers of rules, calendar feeds and webhook subscriptions.
ALTER TABLE allocation_rules ADD COLUMN external_id TEXT;

CREATE UNIQUE INDEX allocation_rules_by_external_id ON allocation_rules (org_id, external_id)
WHERE external_id IS NOT NULL;

ALTER TABLE calendar_feeds ADD COLUMN external_id TEXT;

CREATE UNIQUE INDEX calendar_feeds_by_external_id ON calendar_feeds (org_id, external_id)
WHERE external_id IS NOT NULL;

ALTER TABLE webhook_subscriptions ADD COLUMN external_id TEXT;

CREATE UNIQUE INDEX webhook_subscriptions_by_external_id ON webhook_subscriptions (org_id, external_id)
WHERE external_id IS NOT NULL;
