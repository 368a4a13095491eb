"""What the daemon depends on, checked and said in plain sentences: for `gatewayd doctor`, and the page of it."""
