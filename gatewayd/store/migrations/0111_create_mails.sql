-- Mails that wait to be sent, and those that were.
CREATE TABLE mails (
    id TEXT PRIMARY KEY,
    org_id TEXT REFERENCES organizations (id),  -- NULL: about a person's own account
    queue TEXT NOT NULL,                        -- among which it takes its turn: the organization's; '' where of none
    kind TEXT NOT NULL,
    about TEXT,                                 -- the id of what it tells of; NULL: nothing that has one
    recipient TEXT NOT NULL,                    -- the address, as it was given
    recipient_folded TEXT NOT NULL,
    recipient_name TEXT NOT NULL,               -- '': nobody knows it
    subject TEXT NOT NULL,
    letter_sealed BLOB NOT NULL,                -- what it says, with links that open something; empty once it was sent
    status TEXT NOT NULL CHECK (status IN ('queued', 'sent', 'failed', 'bounced')),
    attempts INTEGER NOT NULL CHECK (attempts >= 0), -- counted when begun, before the server is spoken to
    interruptions INTEGER NOT NULL CHECK (interruptions >= 0 AND interruptions <= attempts), -- of these
    holder TEXT,                                -- which process is sending it; NULL: none
    due_at INTEGER,                             -- next attempt or, under way, end of its lease; NULL: it is over
    last_code INTEGER,                          -- what the server answered last; NULL: nothing
    last_error TEXT,                            -- in words
    last_attempt_at INTEGER,
    completed_at INTEGER,
    expires_at INTEGER,                         -- when what it says is over; NULL: never
    created_at INTEGER NOT NULL,
    CHECK ((due_at IS NOT NULL) = (status = 'queued')),
    CHECK ((completed_at IS NULL) = (due_at IS NOT NULL)),
    CHECK (holder IS NULL OR (due_at IS NOT NULL AND attempts > 0))
) STRICT;
-- What is due, by turns
CREATE INDEX mails_queue ON mails (queue, due_at, id) WHERE due_at IS NOT NULL;
-- What a process that is gone has left
CREATE INDEX mails_held ON mails (holder) WHERE holder IS NOT NULL;
-- How many were sent lately: of one queue, to one address
CREATE INDEX mails_ended ON mails (queue, completed_at);
CREATE INDEX mails_to ON mails (recipient_folded, completed_at);
-- Those of one organization, newest first
CREATE INDEX mails_of_organization ON mails (org_id, id);
-- The sweeps
CREATE INDEX mails_by_end ON mails (completed_at, id) WHERE completed_at IS NOT NULL;

-- Each attempt that has ended.
CREATE TABLE mail_attempts (
    mail_id TEXT NOT NULL REFERENCES mails (id) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number > 0),
    begun_at INTEGER NOT NULL,
    duration_ms INTEGER CHECK (duration_ms >= 0), -- NULL: nobody knows when it ended
    outcome TEXT NOT NULL CHECK (outcome IN ('sent', 'retried', 'failed', 'bounced', 'interrupted')),
    code INTEGER,                               -- of the server's answer; NULL: there was none
    answer TEXT,                                -- what it said, or what went wrong
    PRIMARY KEY (mail_id, number)
) STRICT, WITHOUT ROWID;
