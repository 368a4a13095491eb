"""What transactions make of a holding: days, pools, gains (Domain C5, decision 0022); and of cash and income."""
