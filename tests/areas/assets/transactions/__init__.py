"""Transactions of accounts with assets, and the income that follows from them."""
