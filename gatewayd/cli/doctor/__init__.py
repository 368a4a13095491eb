"""`gatewayd doctor` and `check-config`: what an operator should mend, in plain sentences."""
