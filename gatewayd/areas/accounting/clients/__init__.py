"""Billing clients: whom the organization invoices (Spec §4, domain model A5 and B5)."""
