-- Whether a person was resident in the United Kingdom in a tax year. NULL: nobody said, and tax_residency is looked at.
ALTER TABLE tax_year_figures ADD COLUMN residence TEXT CHECK (
    residence = 'resident' OR residence = 'not_resident' OR residence = 'split'
);
