-- Unique Taxpayer References lay open beside National Insurance numbers, which were sealed: now both are, and lists show
-- the end of each.
ALTER TABLE legal_entities RENAME COLUMN utr TO utr_hint;
ALTER TABLE legal_entities ADD COLUMN utr_sealed BLOB;
UPDATE legal_entities SET utr_sealed = seal(utr_hint, 'legal_entities.utr:' || id), utr_hint = substr(utr_hint, -3)
WHERE utr_hint IS NOT NULL;
