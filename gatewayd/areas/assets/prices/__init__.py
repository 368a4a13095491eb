"""Prices of instruments and rates of exchange, by day: shapes, rows, operations."""
