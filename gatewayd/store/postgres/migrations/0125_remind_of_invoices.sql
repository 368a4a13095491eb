-- Made from the migration of SQLite, but for `wire` of clients, which is written by hand.

-- When clients are reminded of invoices that they were sent, by organization.
CREATE TABLE reminder_schedules (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C" NOT NULL,
    enabled bigint NOT NULL CHECK (enabled IN (0, 1)),
    rungs text COLLATE "C" NOT NULL,                        -- JSON array: days, subject, text, and since which day it holds
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL CHECK (version >= 1)
);

CREATE UNIQUE INDEX reminder_schedules_of ON reminder_schedules (org_id);

-- Each rung of each invoice once for ever.
CREATE TABLE invoice_reminders (
    org_id text COLLATE "C" NOT NULL,
    invoice_id text COLLATE "C" NOT NULL,
    days bigint NOT NULL CHECK (abs(days) <= 120), -- after the due date; negative: before it
    status text COLLATE "C" NOT NULL CHECK (status IN ('written', 'withdrawn', 'skipped')),
    reason text COLLATE "C" CHECK ((reason IS NULL) = (status = 'written')),
    date text COLLATE "C" NOT NULL,                         -- the day on which that was done
    mails text COLLATE "C" NOT NULL,                        -- JSON array: the mails, with whom they go to
    created_at bigint NOT NULL,
    PRIMARY KEY (invoice_id, days)
);

-- What may be on its way still
CREATE INDEX invoice_reminders_written ON invoice_reminders (org_id, date) WHERE status = 'written';

-- Invoices of which nobody is reminded.
CREATE TABLE reminder_stops (
    org_id text COLLATE "C" NOT NULL,
    invoice_id text COLLATE "C" NOT NULL,                   -- no reference: a draft that changes is stored anew
    created_at bigint NOT NULL,
    PRIMARY KEY (org_id, invoice_id)
);

-- Whether a client is reminded at all
ALTER TABLE clients ADD COLUMN reminders bigint NOT NULL DEFAULT 1 CHECK (reminders IN (0, 1));

UPDATE clients SET wire = convert_to(
    replace(convert_from(wire, 'UTF8'), ',"archivedAt":', ',"reminders":true,"archivedAt":'), 'UTF8'
);

ALTER TABLE reminder_schedules ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE invoice_reminders ADD FOREIGN KEY (invoice_id) REFERENCES invoices (id);

ALTER TABLE reminder_stops ADD FOREIGN KEY (org_id) REFERENCES organizations (id);
