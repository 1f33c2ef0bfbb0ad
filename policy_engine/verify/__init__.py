"""The kernel: it reads SQL text back and is the only maker of certificates."""
