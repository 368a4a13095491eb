-- Browsers in which somebody has signed in before: a locked account does not keep them out.
CREATE TABLE known_devices (
    hash BLOB NOT NULL,                                 -- SHA-256 of the cookie's token
    user_id TEXT NOT NULL REFERENCES users (id),
    failures INTEGER NOT NULL CHECK (failures >= 0),    -- since the last sign-in
    last_used_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (hash, user_id)
) STRICT, WITHOUT ROWID;

-- The oldest of one user; the sweep
CREATE INDEX known_devices_of_user ON known_devices (user_id, last_used_at);
CREATE INDEX known_devices_by_age ON known_devices (last_used_at);

-- Networks were counted without end, proxies among them: counting begins anew. `first_at` is now when the count of a
-- network was last halved.
DELETE FROM sign_in_failures WHERE subject >= 'network:' AND subject < 'network;';
