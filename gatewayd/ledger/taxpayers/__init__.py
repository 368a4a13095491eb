"""Who is taxed, and with what: legal entities, businesses, and what is known of their years."""
