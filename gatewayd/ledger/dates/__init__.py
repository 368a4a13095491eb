"""Days that the law sets: tax years, ranges, and when things are due. Pure."""
