"""Portfolios: shapes, rows, rules, operations."""
