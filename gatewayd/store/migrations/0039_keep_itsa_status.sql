-- What the tax authority said last of an entity's standing in Making Tax Digital for Income Tax.
ALTER TABLE legal_entities ADD COLUMN itsa_status_tax_year TEXT; -- NULL: nobody asked, or it said nothing
ALTER TABLE legal_entities ADD COLUMN itsa_status_status TEXT;
ALTER TABLE legal_entities ADD COLUMN itsa_status_reason TEXT;
ALTER TABLE legal_entities ADD COLUMN itsa_status_fetched_at INTEGER;
