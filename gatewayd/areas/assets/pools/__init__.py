"""What transactions make of a holding: days, pools, matches and gains (Domain C5, decision 0022)."""
