-- Made from the migration of SQLite by `make generate`.

-- Mails that wait to be sent, and those that were.
CREATE TABLE mails (
    id text COLLATE "C" PRIMARY KEY,
    org_id text COLLATE "C",  -- NULL: about a person's own account
    queue text COLLATE "C" NOT NULL,                        -- among which it takes its turn: the organization's; '' where of none
    kind text COLLATE "C" NOT NULL,
    about text COLLATE "C",                                 -- the id of what it tells of; NULL: nothing that has one
    recipient text COLLATE "C" NOT NULL,                    -- the address, as it was given
    recipient_folded text COLLATE "C" NOT NULL,
    recipient_name text COLLATE "C" NOT NULL,               -- '': nobody knows it
    subject text COLLATE "C" NOT NULL,
    letter_sealed bytea NOT NULL,                -- what it says, with links that open something; empty once it was sent
    status text COLLATE "C" NOT NULL CHECK (status IN ('queued', 'sent', 'failed', 'bounced')),
    attempts bigint NOT NULL CHECK (attempts >= 0), -- counted when begun, before the server is spoken to
    interruptions bigint NOT NULL CHECK (interruptions >= 0 AND interruptions <= attempts), -- of these
    holder text COLLATE "C",                                -- which process is sending it; NULL: none
    due_at bigint,                             -- next attempt or, under way, end of its lease; NULL: it is over
    last_code bigint,                          -- what the server answered last; NULL: nothing
    last_error text COLLATE "C",                            -- in words
    last_attempt_at bigint,
    completed_at bigint,
    expires_at bigint,                         -- when what it says is over; NULL: never
    created_at bigint NOT NULL,
    CHECK ((due_at IS NOT NULL) = (status = 'queued')),
    CHECK ((completed_at IS NULL) = (due_at IS NOT NULL)),
    CHECK (holder IS NULL OR (due_at IS NOT NULL AND attempts > 0))
);

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
    mail_id text COLLATE "C" NOT NULL,
    number bigint NOT NULL CHECK (number > 0),
    begun_at bigint NOT NULL,
    duration_ms bigint CHECK (duration_ms >= 0), -- NULL: nobody knows when it ended
    outcome text COLLATE "C" NOT NULL CHECK (outcome IN ('sent', 'retried', 'failed', 'bounced', 'interrupted')),
    code bigint,                               -- of the server's answer; NULL: there was none
    answer text COLLATE "C",                                -- what it said, or what went wrong
    PRIMARY KEY (mail_id, number)
);

ALTER TABLE mails ADD FOREIGN KEY (org_id) REFERENCES organizations (id);

ALTER TABLE mail_attempts ADD FOREIGN KEY (mail_id) REFERENCES mails (id) ON DELETE CASCADE;
