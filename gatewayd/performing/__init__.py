"""The one path of every operation, whichever door it is asked for at: admit, decode, idempotency, run."""
