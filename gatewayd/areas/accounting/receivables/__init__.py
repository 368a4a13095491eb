"""Who owes what: aged debtors and creditors of any day, and statements of account (Domain B5)."""
