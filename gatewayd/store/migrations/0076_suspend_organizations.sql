-- An organization is let in no more while it is suspended, and for ever once it is being deleted.
ALTER TABLE organizations ADD COLUMN suspended_at INTEGER;
ALTER TABLE organizations ADD COLUMN suspended_reason TEXT CHECK (length(suspended_reason) <= 1000);
ALTER TABLE organizations ADD COLUMN deleting_since INTEGER;
