"""Lets: properties, who lives there, what they owe, what it earns (Spec §4)."""
