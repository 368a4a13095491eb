-- Made from the migration of SQLite, but for the check of `recurring_invoices`, which is written by hand.

-- Who accepted or declined a quote on its page, as they named themselves; NULL: nobody did there.
ALTER TABLE quotes ADD COLUMN answered_by text COLLATE "C";

-- Mails about one thing, newest first
CREATE INDEX mails_about ON mails (org_id, about, id) WHERE about IS NOT NULL;

-- Recurring invoices may be sent too.
ALTER TABLE recurring_invoices DROP CONSTRAINT recurring_invoices_makes_check;

ALTER TABLE recurring_invoices ADD CONSTRAINT recurring_invoices_makes_check
    CHECK (makes IN ('draft', 'issued', 'sent'));
