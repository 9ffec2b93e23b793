-- Where the owner of a lease listens for frontends; empty if it does not.
ALTER TABLE leases ADD COLUMN address TEXT NOT NULL DEFAULT '';
