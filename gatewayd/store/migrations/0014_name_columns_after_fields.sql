-- A struct that has a column for each of its members names them after itself: vat_check.checked_at, tax_sync.latency.
ALTER TABLE clients RENAME COLUMN vat_checked_at TO vat_check_checked_at;
ALTER TABLE clients RENAME COLUMN vat_check_consultation TO vat_check_consultation_number;
ALTER TABLE legal_entities RENAME COLUMN year_end_month TO accounting_year_end_month;
ALTER TABLE legal_entities RENAME COLUMN year_end_day TO accounting_year_end_day;
ALTER TABLE businesses RENAME COLUMN tax_synced_at TO tax_sync_synced_at;
ALTER TABLE businesses RENAME COLUMN tax_latency TO tax_sync_latency;
ALTER TABLE businesses RENAME COLUMN tax_year_of_migration TO tax_sync_year_of_migration;
