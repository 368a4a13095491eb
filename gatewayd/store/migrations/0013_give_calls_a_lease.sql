-- Until when the process that runs a call is taken to be alive; NULL once there is an answer. After it a retry acts.
-- What is under way in a database that is being migrated was interrupted.
DELETE FROM idempotency_keys WHERE response IS NULL;
ALTER TABLE idempotency_keys ADD COLUMN lease_until INTEGER CHECK ((lease_until IS NULL) = (response IS NOT NULL));
