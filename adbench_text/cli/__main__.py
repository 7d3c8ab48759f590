"""Run the command line by ``python -m adbench_text.cli``."""

from adbench_text.cli.main import main

main()
