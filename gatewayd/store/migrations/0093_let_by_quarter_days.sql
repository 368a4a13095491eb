-- Rent by the quarter that is due on quarter days. NULL: on `rent_due_day`, as all before.
ALTER TABLE tenancies ADD COLUMN rent_quarter_days TEXT CHECK (
    rent_quarter_days IS NULL OR rent_frequency = 'quarterly'
        AND (rent_quarter_days = 'english' OR rent_quarter_days = 'scottish' OR rent_quarter_days = 'modern')
);
