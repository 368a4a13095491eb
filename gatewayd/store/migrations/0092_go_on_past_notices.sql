-- What kind of notice was served, and on which grounds.
ALTER TABLE tenancies ADD COLUMN notice_kind TEXT; -- NULL: nobody said
ALTER TABLE tenancies ADD COLUMN notice_grounds TEXT NOT NULL DEFAULT '[]'; -- JSON, as they were given
