"""What is read in documents: shapes, rows, operations. The reading itself is done in `parsing`."""
