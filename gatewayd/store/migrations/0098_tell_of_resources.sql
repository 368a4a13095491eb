-- Events in the order in which they were recorded, which no clock turns round.
ALTER TABLE events ADD COLUMN recorded_at INTEGER NOT NULL DEFAULT 0;  -- in the order of `updated_at`; 0: of before

UPDATE events SET recorded_at = created_at;

-- events.list.
CREATE INDEX events_as_recorded ON events (org_id, recorded_at, id);

-- Who reads events by events.list: their kinds are recorded for them.
CREATE TABLE event_followers (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    kinds TEXT NOT NULL,                                -- kinds and patterns, space separated, in their order
    since INTEGER NOT NULL,                             -- from then on they are recorded without a gap
    until INTEGER NOT NULL,
    PRIMARY KEY (org_id, kinds)
) STRICT, WITHOUT ROWID;
