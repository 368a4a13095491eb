-- Who was a tenant when: a tenant who was replaced stays one of the tenancy, up to a day.

ALTER TABLE tenancies ADD COLUMN tenant_spans TEXT NOT NULL DEFAULT '[]'; -- JSON; empty: the tenants are those of all its days
ALTER TABLE tenancy_tenants ADD COLUMN to_date TEXT;                     -- the last day as a tenant of it; NULL: its last one

DROP INDEX tenancy_tenants_of_tenant;

-- The tenancies of a tenant, and until when they are.
CREATE INDEX tenancy_tenants_of_tenant ON tenancy_tenants (org_id, tenant_id, tenancy_id, to_date);
