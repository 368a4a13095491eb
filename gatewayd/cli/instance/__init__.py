"""The instance itself: serving, setting up, backup and restore, its key, its clock."""
