"""The path that every operation takes to the authority for a caller, and the log of calls."""
