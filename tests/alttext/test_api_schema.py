"""The API keeps to its own OpenAPI description, whatever is sent: generated requests, in-process, as two people."""

from __future__ import annotations

import pytest
import schemathesis
from django.core.cache import cache
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.test import Client
from django.urls import reverse
from hypothesis import HealthCheck, Phase, settings
from schemathesis import checks

from alttext.models import Decision
from alttext.operations import decisions
from alttext.project.demo.models import Illustration
