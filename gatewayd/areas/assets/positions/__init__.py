"""Positions: what is held, what it cost and what it is worth, on any day: shapes, valuing, building, operations."""
