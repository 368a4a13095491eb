"""Keys that sign, and what is signed with them."""
