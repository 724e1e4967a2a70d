"""The entry point for gunicorn. `opentelemetry-instrument` starts it."""
from django.core.wsgi import get_wsgi_application

application = get_wsgi_application()
