"""Brokers' files, read into transactions: CSV exports and Flex queries of Interactive Brokers (Domain E)."""
