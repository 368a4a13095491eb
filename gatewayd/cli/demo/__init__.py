"""`gatewayd demo`: a small firm on a seeded instance, and the main job played in front of the reader."""
