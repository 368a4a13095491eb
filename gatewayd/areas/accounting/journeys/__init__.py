"""Business journeys by one's own vehicle, and what they come to at the published rates."""
