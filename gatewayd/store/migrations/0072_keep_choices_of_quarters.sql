-- Every choice of the type of a business's quarters, with the tax year in which it was made: a second one changed the years before it.

CREATE TABLE quarter_choices (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    business_id TEXT NOT NULL REFERENCES businesses (id),
    first_year INTEGER NOT NULL,                -- in which the tax year begins; 0: nobody knows since when
    type TEXT NOT NULL CHECK (type IN ('standard', 'calendar')),
    PRIMARY KEY (org_id, business_id, first_year)
) STRICT, WITHOUT ROWID;

-- Of the choice before the last the year was not kept: at the earliest, it was the one in which the business came into the books.
INSERT INTO quarter_choices (org_id, business_id, first_year, type)
SELECT org_id, id,
    min(
        CAST(strftime('%Y', created_at / 1000000, 'unixepoch') AS INTEGER)
            - (strftime('%m-%d', created_at / 1000000, 'unixepoch') < '04-06'),
        CAST(substr(quarterly_period_tax_year, 1, 4) AS INTEGER) - 1
    ),
    former_quarterly_period_type
FROM businesses WHERE former_quarterly_period_type = 'calendar' AND quarterly_period_tax_year IS NOT NULL;

INSERT INTO quarter_choices (org_id, business_id, first_year, type)
SELECT org_id, id, CAST(coalesce(substr(quarterly_period_tax_year, 1, 4), '0') AS INTEGER), quarterly_period_type
FROM businesses WHERE quarterly_period_tax_year IS NOT NULL OR quarterly_period_type = 'calendar';

ALTER TABLE businesses DROP COLUMN former_quarterly_period_type;
