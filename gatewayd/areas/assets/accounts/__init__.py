"""Accounts with assets: shapes, operations."""
