-- Made from the migration of SQLite by `make generate`.

-- The due date of which it was told that it has passed with money still due; another one is told of anew.
ALTER TABLE invoices ADD COLUMN overdue_for text COLLATE "C";

-- What was overdue before anybody could be told is no news.
UPDATE invoices SET overdue_for = open_due_date WHERE open_due_date < CAST(current_date AS TEXT);

-- What has passed and is to be told of, of all organizations
CREATE INDEX invoices_passed ON invoices (open_due_date, id)
    WHERE open_due_date IS NOT NULL AND (overdue_for IS NULL OR overdue_for <> open_due_date);
