"""The one process: store, engines and doors, opened in this order and closed in the other."""
