-- banking.listAllocations with ruleId or mortgageId: what a rule decided, and what a loan cost and repaid, with its sums.
CREATE INDEX allocations_by_rule ON allocations (org_id, rule_id, date, id, currency, direction, amount)
WHERE rule_id IS NOT NULL;
-- The same.
CREATE INDEX allocations_by_mortgage ON allocations (org_id, mortgage_id, date, id, currency, direction, amount)
WHERE mortgage_id IS NOT NULL;

-- assets.listTransactions with importId: what a file brought.
CREATE INDEX asset_transactions_of_import_by_date ON asset_transactions (org_id, import_id, trade_date, id)
WHERE import_id IS NOT NULL;

DROP INDEX invoices_credits;

-- accounting.listInvoices with creditsInvoiceId, newest first; and what credits an invoice, as before.
CREATE INDEX invoices_credits ON invoices (credits_invoice_id, org_id, id) WHERE credits_invoice_id IS NOT NULL;
