"""Rents: what is due, what came, what is owed."""
