-- Names in one letter case, without accents: what finds an instrument that has nothing but a name.
ALTER TABLE instruments DROP COLUMN search_text;
ALTER TABLE instruments ADD COLUMN name_folded TEXT NOT NULL DEFAULT '';
-- an instrument by its name, and names by how they begin
CREATE INDEX instruments_by_name ON instruments (org_id, name_folded, id);

-- The words of the names of instruments, folded: a search finds them by how they begin.
CREATE TABLE instrument_words (
    org_id TEXT NOT NULL,
    word TEXT NOT NULL,
    instrument_id TEXT NOT NULL REFERENCES instruments (id),
    PRIMARY KEY (org_id, word, instrument_id)
) STRICT;
-- the words of a name that changes
CREATE INDEX instrument_words_of_instrument ON instrument_words (org_id, instrument_id, word);

-- What file a rate is from, by its content: SHA-256, as of prices.
ALTER TABLE exchange_rates ADD COLUMN import_id TEXT;
