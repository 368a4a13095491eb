"""Who comes in and how, what is one's own, and who belongs to an organization."""
