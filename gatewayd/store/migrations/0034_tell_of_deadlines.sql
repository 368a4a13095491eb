-- The due date of which it was told that it comes, and that it has passed; another due date is told of anew.
ALTER TABLE obligations ADD COLUMN due_soon_for TEXT;
ALTER TABLE obligations ADD COLUMN overdue_for TEXT;
-- What was due before anybody could be told is no news.
UPDATE obligations SET overdue_for = due_date WHERE due_date < date('now');

-- What comes near and is to be told of, by day
CREATE INDEX obligations_to_come ON obligations (due_date, id)
    WHERE status = 'open' AND (due_soon_for IS NULL OR due_soon_for <> due_date);
-- What has passed
CREATE INDEX obligations_passed ON obligations (due_date, id)
    WHERE status = 'open' AND (overdue_for IS NULL OR overdue_for <> due_date);
