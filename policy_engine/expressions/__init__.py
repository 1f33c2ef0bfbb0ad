"""What one expression over one row is: its type, whether it can fail, what it shows."""
