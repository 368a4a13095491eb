"""What is read in documents: its state, its text, and the files made of it. The reading itself is done in `parsing`."""
