"""What the authority granted for an organization: its tokens, how they are kept and refreshed."""
