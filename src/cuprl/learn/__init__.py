"""What the algorithms share: pure JAX, no I/O."""

from cuprl import backend  # noqa: F401  (sets JAX up, before any module here imports it)
