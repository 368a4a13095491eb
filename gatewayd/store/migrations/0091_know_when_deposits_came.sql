-- When a deposit was received, from which day on the law counts.
ALTER TABLE tenancies ADD COLUMN deposit_received_date TEXT; -- NULL: when the tenancy began
