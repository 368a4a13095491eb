"""Bills: what suppliers are owed, and people who paid for a business out of their own pocket."""
