"""What an organization keeps: invoices, allocations, lets, assets, documents, periods, credits."""
