"""Instruments: shapes, rows, rules, operations."""
