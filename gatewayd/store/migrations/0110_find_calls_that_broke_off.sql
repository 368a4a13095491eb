-- Calls that are under way, and those of which nobody knows what they did
CREATE INDEX idempotency_keys_open ON idempotency_keys (lease_until) WHERE response IS NULL;
