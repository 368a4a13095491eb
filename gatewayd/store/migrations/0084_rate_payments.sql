-- Foreign invoices tell where their rate is from, and payments of them have one of their own.
ALTER TABLE invoices ADD COLUMN fx_rate_source TEXT CHECK (fx_rate_source = 'recorded' OR fx_rate_source = 'hmrc');
ALTER TABLE invoices ADD COLUMN fx_rate_date TEXT; -- NULL: the rate was given
ALTER TABLE invoice_payments ADD COLUMN fx_rate TEXT; -- units of the seller's currency for one of the invoice's
ALTER TABLE invoice_payments ADD COLUMN fx_rate_source TEXT CHECK (
    fx_rate_source = 'recorded' OR fx_rate_source = 'hmrc'
);
