"""Mortgages: shapes, rows, rules, what they come to, operations."""
