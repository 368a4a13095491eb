"""Reminders: clients are told of invoices that fall due or are overdue."""
