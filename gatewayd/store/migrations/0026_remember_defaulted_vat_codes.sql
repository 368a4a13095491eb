-- Whether a line names its VAT code, or bears what held when it was made. Of lines that are there it is not known: they
-- keep the code that they show.
ALTER TABLE invoice_lines ADD COLUMN vat_code_defaulted INTEGER NOT NULL DEFAULT 0
    CHECK (vat_code_defaulted IN (0, 1));
