-- The first delivery of an event in a chain of replays; receivers know the event by its id, also when its row is gone.
-- NULL: it is no replay, or one made before this, which its receiver was told of under its own id.
ALTER TABLE deliveries ADD COLUMN original_id TEXT CHECK (original_id IS NULL OR replayed_from IS NOT NULL);
