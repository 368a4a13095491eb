"""What is made of the commands and operations: help, manual, completion, the description."""
