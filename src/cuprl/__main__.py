"""`python -m cuprl` is `cup`."""

import sys

from cuprl.cli import main

sys.exit(main())
