"""What a command does before it begins: nothing that it does not need."""

import subprocess
import sys

_RUN = """
import gc, os, sys
from policy_engine.cli import main
looks = []
gc.callbacks.append(lambda phase, which: looks.append(phase))
os._exit = lambda code: print(code, len(looks), gc.isenabled(), file=sys.stderr)
sys.argv[1:] = ["schema"]
main.main()
"""


def test_nothing_looks_for_garbage_while_a_command_is_loaded_and_it_does_again_then():
    done = subprocess.run([sys.executable, "-c", _RUN], capture_output=True, text=True, check=True)
    assert done.stderr.split() == ["0", "0", "True"]
