"""Brokers' files come into accounts with assets."""
