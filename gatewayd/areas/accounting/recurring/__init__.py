"""Recurring invoices: what is invoiced again and again, and the rhythm of it."""
