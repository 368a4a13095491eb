"""Instruments: shapes, rules, how they are found, how one comes to be, operations."""
