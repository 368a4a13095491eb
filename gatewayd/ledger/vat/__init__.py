"""VAT: rates by day, codes of what is bought and sold, and how a taxpayer stands."""
