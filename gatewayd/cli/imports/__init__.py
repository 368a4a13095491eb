"""`gatewayd import`: files of banks, brokers and prices."""
