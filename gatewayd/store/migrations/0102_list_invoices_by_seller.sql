DROP INDEX invoices_page;

-- accounting.listInvoices newest first: what its filters without an index of their own ask for is decided in this one.
CREATE INDEX invoices_page ON invoices (
    org_id, id, currency, business_id, legal_entity_id, kind, property_id, search_text
);
