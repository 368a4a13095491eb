"""Transactions: shapes, rows, rules, operations."""
