-- What a month of a plan has been granted, whichever plans it had, and though there is none now.
CREATE TABLE credit_allotments (
    org_id TEXT PRIMARY KEY REFERENCES organizations (id),
    anchor_date TEXT NOT NULL,                   -- the months are counted from here
    month INTEGER NOT NULL CHECK (month >= 0),   -- the last one that was granted
    granted INTEGER NOT NULL CHECK (granted >= 0) -- millionths of a credit, of that month
) STRICT;
INSERT INTO credit_allotments (org_id, anchor_date, month, granted)
SELECT s.org_id, s.anchor_date, s.months - 1, p.included_credits
FROM credit_subscriptions AS s JOIN credit_plans AS p ON p.id = s.plan_id WHERE s.months > 0;
