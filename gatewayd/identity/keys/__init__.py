"""API keys and other credentials of programs: what they may do, and from where."""
