-- When clients are reminded of invoices that they were sent, by organization.
CREATE TABLE reminder_schedules (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    rungs TEXT NOT NULL,                        -- JSON array: days, subject, text, and since which day it holds
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;
CREATE UNIQUE INDEX reminder_schedules_of ON reminder_schedules (org_id);

-- Each rung of each invoice once for ever.
CREATE TABLE invoice_reminders (
    org_id TEXT NOT NULL,
    invoice_id TEXT NOT NULL REFERENCES invoices (id),
    days INTEGER NOT NULL CHECK (abs(days) <= 120), -- after the due date; negative: before it
    status TEXT NOT NULL CHECK (status IN ('written', 'withdrawn', 'skipped')),
    reason TEXT CHECK ((reason IS NULL) = (status = 'written')),
    date TEXT NOT NULL,                         -- the day on which that was done
    mails TEXT NOT NULL,                        -- JSON array: the mails, with whom they go to
    created_at INTEGER NOT NULL,
    PRIMARY KEY (invoice_id, days)
) STRICT, WITHOUT ROWID;
-- What may be on its way still
CREATE INDEX invoice_reminders_written ON invoice_reminders (org_id, date) WHERE status = 'written';

-- Invoices of which nobody is reminded.
CREATE TABLE reminder_stops (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    invoice_id TEXT NOT NULL,                   -- no reference: a draft that changes is stored anew
    created_at INTEGER NOT NULL,
    PRIMARY KEY (org_id, invoice_id)
) STRICT, WITHOUT ROWID;

-- Whether a client is reminded at all
ALTER TABLE clients ADD COLUMN reminders INTEGER NOT NULL DEFAULT 1 CHECK (reminders IN (0, 1));
UPDATE clients SET wire = CAST(
    replace(CAST(wire AS TEXT), ',"archivedAt":', ',"reminders":true,"archivedAt":') AS BLOB
);
