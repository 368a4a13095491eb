-- What an operator said when the clock was behind `latest`: that it was right at `accepted_at`, microseconds UTC. Zeros: nothing.
ALTER TABLE update_clock ADD COLUMN accepted_latest INTEGER NOT NULL DEFAULT 0;
ALTER TABLE update_clock ADD COLUMN accepted_at INTEGER NOT NULL DEFAULT 0;
