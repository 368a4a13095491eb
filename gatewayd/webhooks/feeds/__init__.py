"""Events to be read: over the API, by a command on this machine, and by one elsewhere."""
