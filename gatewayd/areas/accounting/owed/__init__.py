"""What clients owe, and what is theirs: payments of several invoices, credit, refunds, bad debts (domain model B5)."""
