"""What is in documents: found by words, and by meaning (Domain A7, C9)."""
