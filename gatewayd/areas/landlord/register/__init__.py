"""The register: properties and tenancies as they are stored, and what a tenancy is and costs on a day."""
