"""What an OAuth client is given, and whom a credential stands for."""
