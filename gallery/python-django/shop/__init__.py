"""A shop on Django, its ORM, its pool of connections, and Redis as its cache."""
