"""Unilateral contact, friction and impact."""

from .cone import friction_cone, solve_contact
from .forces import ContactAccelerations, contact_accelerations, force_bounds
from .gaps import Contact, Contacts, contacts, point_curve, point_plane, sphere_plane, sphere_sphere
from .surfaces import curve, level

__all__ = ["Contact", "ContactAccelerations", "Contacts", "contact_accelerations", "contacts", "curve",
           "force_bounds", "friction_cone", "level", "point_curve", "point_plane", "solve_contact",
           "sphere_plane", "sphere_sphere"]
