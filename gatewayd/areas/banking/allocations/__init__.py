"""What bank lines are for (Domain B4): allocations, transfers, proposals, rules."""
