"""Bank lines and their parts that have a category: what money was for."""
