"""What several areas stand on: references, sellers, closed periods, dated rates, lists."""
