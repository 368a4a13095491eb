"""Transactions: shapes, what each type takes, how they are entered and reversed, operations."""
