"""Runs code in another Python process."""

import os
import subprocess
import sys


def printed(code: str, **variables: str) -> str:
    """Return what a process prints that runs this code with these environment variables."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=os.environ | variables, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout
