"""CSV of banks: how one will be read, by whom that is said, and its rows as statements (Domain E)."""
