"""Who may come in: organizations, users, members, keys, apps, and what is open to the outside."""
