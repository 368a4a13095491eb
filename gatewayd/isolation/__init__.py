"""Child processes for files of strangers: limits, no network, no files but their own. Imports nothing of ours."""
