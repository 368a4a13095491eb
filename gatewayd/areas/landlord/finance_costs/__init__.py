"""Relief for what it cost to finance dwellings that are let."""
