"""`python -m nacre.cli`."""

import sys

from nacre.cli import main

sys.exit(main())
