-- The first legal entity of an organization numbers its invoices in the organization's own sequences, so that one firm
-- has each number once. Where both have used a number already, each keeps its own.
ALTER TABLE legal_entities ADD COLUMN numbered_as_organization INTEGER NOT NULL DEFAULT 0
    CHECK (numbered_as_organization IN (0, 1));
UPDATE legal_entities SET numbered_as_organization = 1
WHERE id = (SELECT min(each.id) FROM legal_entities AS each WHERE each.org_id = legal_entities.org_id)
    AND NOT EXISTS (
        SELECT 1 FROM invoices AS own
        JOIN invoices AS another ON another.org_id = own.org_id AND another.number = own.number
        WHERE own.org_id = legal_entities.org_id AND own.seller_key = legal_entities.org_id
            AND another.seller_key = legal_entities.id
    );
CREATE UNIQUE INDEX legal_entities_numbered_as_organization ON legal_entities (org_id)
    WHERE numbered_as_organization = 1;
UPDATE invoices SET seller_key = org_id
WHERE seller_key IN (SELECT id FROM legal_entities WHERE numbered_as_organization = 1);

-- How the documents of a seller are numbered: a row for each year in which it counted, or one of year '' where its
-- pattern has none. No count is below a number of the pattern that the seller used. seller_key is the organization
-- where it sells in its own name or a legal entity is numbered as it is, else the legal entity
ALTER TABLE invoice_sequences RENAME TO invoice_sequences_before;
CREATE TABLE invoice_sequences (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    seller_key TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('invoice', 'credit_note')),
    year TEXT NOT NULL CHECK (length(year) IN (0, 4)),
    pattern TEXT NOT NULL,                      -- INV-{yyyy}-{000001}; the same in all years
    last_number INTEGER NOT NULL CHECK (last_number >= 0),
    PRIMARY KEY (org_id, seller_key, kind, year)
) STRICT, WITHOUT ROWID;
INSERT INTO invoice_sequences (org_id, seller_key, kind, year, pattern, last_number)
SELECT org_id, merged_key, kind, '', CASE kind WHEN 'invoice' THEN 'INV-{000001}' ELSE 'CN-{000001}' END,
    max(last_number)
FROM (
    SELECT org_id, kind, last_number,
        CASE WHEN seller_key IN (SELECT id FROM legal_entities WHERE numbered_as_organization = 1)
            THEN org_id ELSE seller_key END AS merged_key
    FROM invoice_sequences_before
) AS merged
GROUP BY org_id, merged_key, kind;
DROP TABLE invoice_sequences_before;
-- Imported numbers were passed over one by one; now the count is behind them
UPDATE invoice_sequences SET last_number = max(last_number, coalesce((
    SELECT max(CAST(digits AS INTEGER))
    FROM (
        SELECT substr(number, CASE invoice_sequences.kind WHEN 'invoice' THEN 5 ELSE 4 END) AS digits
        FROM invoices
        WHERE invoices.org_id = invoice_sequences.org_id AND invoices.seller_key = invoice_sequences.seller_key
            AND number GLOB CASE invoice_sequences.kind WHEN 'invoice' THEN 'INV-[0-9]*' ELSE 'CN-[0-9]*' END
    ) AS numbered
    WHERE digits NOT GLOB '*[^0-9]*' AND length(digits) <= 12
        AND (length(digits) = 6 OR (length(digits) > 6 AND digits NOT GLOB '0*'))
), 0));
