#!/usr/bin/env python
"""Points at the runnable site's settings, nothing else."""

import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "alttext.project.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
