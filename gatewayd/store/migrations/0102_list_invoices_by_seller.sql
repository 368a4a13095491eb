-- Invoices are listed by seller, kind and property too: what decides stands in the index that is gone through.
DROP INDEX invoices_page;

CREATE INDEX invoices_page ON invoices (
    org_id, id, currency, business_id, legal_entity_id, kind, property_id, search_text
);
