"""Quotes, and the invoices that are made of them."""
