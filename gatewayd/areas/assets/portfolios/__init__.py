"""Portfolios: shapes, operations."""
