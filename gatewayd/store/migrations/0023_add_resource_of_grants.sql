-- The audience of the grant's access tokens: NULL for this API, else one of `oauth.resources`.
ALTER TABLE grants ADD COLUMN resource TEXT;
