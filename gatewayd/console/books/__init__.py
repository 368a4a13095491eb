"""What an organization keeps, and its home."""
