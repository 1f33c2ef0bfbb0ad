"""SQL text as one statement of allowed nodes: the kernel's only way to a syntax tree."""
