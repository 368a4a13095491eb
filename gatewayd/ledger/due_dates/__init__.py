"""What is due when: pure tables of the law, each figure with its source. No SQL and no clock."""
