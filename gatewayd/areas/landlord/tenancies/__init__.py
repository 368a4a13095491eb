"""Tenancies: shapes, rows, rules, operations."""
