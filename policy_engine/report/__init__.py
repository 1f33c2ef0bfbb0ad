"""What a certificate says, for people: plain data, a page of it, and what changed since another."""
