-- In which the days end on which its credits end. Days of the books and of taxes are London's.
ALTER TABLE organizations ADD COLUMN time_zone TEXT NOT NULL DEFAULT 'Europe/London'
    CHECK (length(time_zone) BETWEEN 1 AND 64);
