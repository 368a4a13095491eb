-- The host that the person was shown and sent to: NULL where the consent was given before it was kept.
ALTER TABLE grants ADD COLUMN redirect_host TEXT;
