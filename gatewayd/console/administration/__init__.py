"""What those who run the instance see and decide."""
