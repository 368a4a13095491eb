"""Profit and loss of a business: what it made, why, and what another choice would make of it."""
