"""What lies in the data directory beside the database."""
