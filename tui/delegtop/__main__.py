"""`python -m delegtop` is the `delegtop` command."""

import sys

from delegtop.cli import main

if __name__ == "__main__":
    sys.exit(main())
