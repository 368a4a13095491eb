"""Valuations of properties: shapes, rows, operations."""
