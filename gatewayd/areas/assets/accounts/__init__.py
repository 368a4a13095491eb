"""Accounts: shapes, rows, rules, operations."""
