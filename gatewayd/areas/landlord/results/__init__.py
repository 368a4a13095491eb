"""What a property made: profit and loss of one, and of several together."""
