"""Tenants: shapes, rows, rules, operations."""
