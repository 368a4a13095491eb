"""Folders: shapes, rows, rules, operations."""
