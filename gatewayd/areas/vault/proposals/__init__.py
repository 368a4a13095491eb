"""What documents propose, by what was read in them: decided by people, and nothing is done by itself (Domain F.6)."""
