"""The web process. It never imports torch."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "alttext.project.settings")
application = get_wsgi_application()
