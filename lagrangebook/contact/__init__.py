"""Unilateral contact, friction and impact."""

from .gaps import Contact, Contacts, contacts, point_curve, point_plane, sphere_plane, sphere_sphere

__all__ = ["Contact", "Contacts", "contacts", "point_curve", "point_plane", "sphere_plane", "sphere_sphere"]
