-- What is unpaid of an invoice and will not come. One of an invoice at a time.
CREATE TABLE invoice_write_offs (
    org_id TEXT NOT NULL,
    invoice_id TEXT PRIMARY KEY REFERENCES invoices (id),
    date TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0), -- as it was written off; what comes after all lessens it
    reason TEXT NOT NULL,
    vat_relief TEXT NOT NULL CHECK (
        vat_relief IN (
            'claimed', 'not_claimed', 'too_late', 'no_vat', 'cash_accounting', 'flat_rate', 'deregistered'
        )
    ),
    vat_relief_date TEXT CHECK ((vat_relief_date IS NOT NULL) = (vat_relief = 'claimed')),
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What was written off by a day
CREATE INDEX invoice_write_offs_by_date ON invoice_write_offs (org_id, date, invoice_id);
