"""What an operation is: rows, callers, scopes, wire rules and pages. Knows no HTTP framework and no SQL."""
