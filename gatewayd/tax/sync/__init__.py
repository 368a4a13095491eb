"""What the authority has of businesses and obligations, compared with the books."""
