"""dbt projects: their manifest, the models that are releases, and the gate before publication."""
