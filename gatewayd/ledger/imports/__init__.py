"""Runs that brought lines in, of banks, brokers and prices."""
