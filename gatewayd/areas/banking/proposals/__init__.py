"""What bank transactions probably are: proposed with a score and a reason, and decided by people."""
