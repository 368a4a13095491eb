"""Bank statements come into bank accounts."""
