"""Organizations, users, and who belongs where."""
