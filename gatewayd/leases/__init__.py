"""Leases: which process works on what, told by rows (decision 0033)."""
