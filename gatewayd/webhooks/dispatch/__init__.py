"""The tasks that send what is due, and what becomes of a receiver that fails."""
