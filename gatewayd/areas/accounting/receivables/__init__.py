"""What clients owe: aged debtors of any day, and statements of account (Domain B5)."""
