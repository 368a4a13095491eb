"""Who subscribes to what, and what did not arrive."""
