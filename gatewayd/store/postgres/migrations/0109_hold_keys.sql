-- Made from the migration of SQLite by `make generate`.

-- A key may be held to some legal entities and days of its organization: it reads those alone.
ALTER TABLE api_keys ADD COLUMN held_entities text COLLATE "C";

-- JSON, ids of legal entities; NULL: all
ALTER TABLE api_keys ADD COLUMN held_from text COLLATE "C";

-- YYYY-MM-DD, inclusive; NULL: from the first day on
ALTER TABLE api_keys ADD COLUMN held_to text COLLATE "C";
