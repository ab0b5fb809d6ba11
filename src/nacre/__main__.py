"""`python -m nacre`."""

import sys

from nacre.cli import main

sys.exit(main())
