"""What statements tell of an account: the days that they hold, the balances, and what is missing."""
