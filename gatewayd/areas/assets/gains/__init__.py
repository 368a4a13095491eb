"""Gains of a person: disposals, the capital gains report, what a position rests on (Domain C5, F.3, F.4)."""
