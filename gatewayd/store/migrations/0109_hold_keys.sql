-- A key may be held to some legal entities and days of its organization: it reads those alone.
ALTER TABLE api_keys ADD COLUMN held_entities TEXT;     -- JSON, ids of legal entities; NULL: all
ALTER TABLE api_keys ADD COLUMN held_from TEXT;         -- YYYY-MM-DD, inclusive; NULL: from the first day on
ALTER TABLE api_keys ADD COLUMN held_to TEXT;           -- YYYY-MM-DD, inclusive; NULL: to the last
