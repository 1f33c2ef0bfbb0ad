"""Policy → plan → SQL text. Untrusted: the kernel reads what comes out."""
