"""Moved to `alttext.plain`."""

from alttext.plain import *  # noqa: F403
from alttext.plain import text  # noqa: F401
