"""Periods, their locks and seals, and what falls due in them."""
