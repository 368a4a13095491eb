"""What waits to be sent: deliveries, their attempts and leases, and how long they are kept."""
