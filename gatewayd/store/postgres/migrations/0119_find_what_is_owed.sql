-- Made from the migration of SQLite by `make generate`.

DROP INDEX invoices_open;

-- Balances of clients, and what is owed by its age
CREATE INDEX invoices_open ON invoices (
    org_id, client_id, currency, open_due_date, balance_due, legal_entity_id, id
) WHERE open_due_date IS NOT NULL;
