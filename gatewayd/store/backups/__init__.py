"""Copies of the database and its files, and the way back."""
