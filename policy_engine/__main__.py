"""``python -m policy_engine`` is ``policy-engine``."""

from policy_engine.cli.main import main

if __name__ == "__main__":
    main()
