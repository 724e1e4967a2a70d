from django.urls import path

from shop import views

urlpatterns = [
    path("customers/<int:customer>/orders", views.orders),
    path("customers/<int:customer>/profile", views.profile),
    path("customers/<int:customer>/checkout", views.checkout),
    path("labels", views.labels),
    path("report", views.report),
    path("stock/1", views.sell),
    path("catalogue", views.catalogue),
]
