-- A payment is taken back by its position, so the wire form shows it. Quotes are escaped in texts: what is looked for
-- stands once. The objects of the array are in the order of their positions.
UPDATE invoices SET
    head_length = head_length + (
        SELECT sum(length('"position":' || position || ',')) FROM invoice_payments WHERE invoice_id = invoices.id
    ),
    wire = CAST(
        substr(CAST(wire AS TEXT), 1, instr(CAST(wire AS TEXT), '"payments":[') + 11)
        || (
            SELECT group_concat('{"position":' || shown.position || ',' || substr(shown.payment, 2), ',')
            FROM (
                SELECT numbered.position, each.value AS payment
                FROM json_each(CAST(invoices.wire AS TEXT) || '}', '$.payments') AS each
                JOIN (
                    SELECT position, row_number() OVER (ORDER BY position) - 1 AS place
                    FROM invoice_payments WHERE invoice_id = invoices.id
                ) AS numbered ON numbered.place = each.key
                ORDER BY each.key
            ) AS shown
        )
        || substr(CAST(wire AS TEXT), instr(CAST(wire AS TEXT), '],"reference":'))
        AS BLOB
    )
WHERE id IN (SELECT invoice_id FROM invoice_payments);
