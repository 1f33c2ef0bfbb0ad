"""A page over a project's ledger, policies and certificates, which is read and never written."""
