-- How many of the attempts the daemon itself cut short, by a kill or a stop: these do not use up a delivery.
ALTER TABLE deliveries ADD COLUMN interruptions INTEGER NOT NULL DEFAULT 0
    CHECK (interruptions >= 0 AND interruptions <= attempts);
