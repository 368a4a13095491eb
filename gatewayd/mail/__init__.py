"""Mail: an outbox that is written with its cause, and the task that hands it to a server (decision 0041)."""
