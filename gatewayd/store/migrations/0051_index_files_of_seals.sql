-- whether a file is the bundle of a seal
CREATE INDEX period_seals_of_file ON period_seals (sha256);
