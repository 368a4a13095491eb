"""Rules of allocation: written by people or learned from what they chose."""
