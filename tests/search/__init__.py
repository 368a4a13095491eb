"""Search in the vault."""
