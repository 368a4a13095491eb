"""Portfolios: what is held, what it cost, what it earned and gained (Spec §4)."""
