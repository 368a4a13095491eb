"""What was earned on what was put in, values over time, and of what it consists: shapes, history, operations."""
