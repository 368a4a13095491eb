-- Headers of an answer are objects, since generators of clients have no word for a pair. Quotes are escaped in texts:
-- what is looked for stands once.
UPDATE delivery_attempts SET wire = CAST(
    substr(CAST(wire AS TEXT), 1, instr(CAST(wire AS TEXT), '"responseHeaders":[') + 18)
    || (
        SELECT group_concat('{"name":' || (shown.pair -> 0) || ',"value":' || (shown.pair -> 1) || '}', ',')
        FROM (
            SELECT each.value AS pair FROM json_each(CAST(wire AS TEXT), '$.responseHeaders') AS each ORDER BY each.key
        ) AS shown
    )
    || substr(CAST(wire AS TEXT), instr(CAST(wire AS TEXT), '],"responseBody":'))
    AS BLOB
)
WHERE instr(CAST(wire AS TEXT), '"responseHeaders":[[') > 0;
