"""Who is calling: organizations, users, memberships, passwords, API keys, and the record of what was done to them."""
