-- Made from the migration of SQLite by `make generate`.

-- What is unpaid of an invoice and will not come. One of an invoice at a time.
CREATE TABLE invoice_write_offs (
    org_id text COLLATE "C" NOT NULL,
    invoice_id text COLLATE "C" PRIMARY KEY,
    date text COLLATE "C" NOT NULL,
    amount bigint NOT NULL CHECK (amount > 0), -- as it was written off; what comes after all lessens it
    reason text COLLATE "C" NOT NULL,
    vat_relief text COLLATE "C" NOT NULL CHECK (
        vat_relief IN (
            'claimed', 'not_claimed', 'too_late', 'no_vat', 'cash_accounting', 'flat_rate', 'deregistered'
        )
    ),
    vat_relief_date text COLLATE "C" CHECK ((vat_relief_date IS NOT NULL) = (vat_relief = 'claimed')),
    created_at bigint NOT NULL
);

-- What was written off by a day
CREATE INDEX invoice_write_offs_by_date ON invoice_write_offs (org_id, date, invoice_id);

ALTER TABLE invoice_write_offs ADD FOREIGN KEY (invoice_id) REFERENCES invoices (id);
