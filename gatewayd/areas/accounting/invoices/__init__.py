"""Invoices and credit notes, from a request to its bytes."""
