"""Settings of the shop, from the environment. Nothing here knows of traces."""
import os

SECRET_KEY = "gallery"
ALLOWED_HOSTS = ["127.0.0.1"]
ROOT_URLCONF = "shop.urls"
INSTALLED_APPS = ["shop"]
MIDDLEWARE = ["django.middleware.security.SecurityMiddleware", "django.middleware.common.CommonMiddleware"]
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
POOL_SIZE = int(os.environ["POOL_SIZE"])
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": "127.0.0.1",
        "PORT": os.environ["PORT_POSTGRES"],
        "USER": "gallery",
        "NAME": "gallery",
        "OPTIONS": {"pool": {"min_size": min(2, POOL_SIZE), "max_size": POOL_SIZE, "timeout": 60}},
    }
}
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": f"redis://127.0.0.1:{os.environ['PORT_REDIS']}/0",
    }
}
