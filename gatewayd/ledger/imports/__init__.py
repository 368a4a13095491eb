"""Runs that brought lines in, of banks, brokers and prices, and what statements say of bank accounts."""
