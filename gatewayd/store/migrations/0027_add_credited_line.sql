-- The position of the line of the invoice that a line of a credit note takes back; NULL: it names none.
ALTER TABLE invoice_lines ADD COLUMN credits_line INTEGER CHECK (credits_line >= 1);
