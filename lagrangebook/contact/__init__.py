"""Unilateral contact, friction and impact."""

from .cone import friction_cone, solve_contact
from .forces import ContactAccelerations, contact_accelerations, force_bounds
from .gaps import Contact, Contacts, contacts, point_curve, point_plane, sphere_plane, sphere_sphere
from .impact import Impact, collision, moreau_impact, newton_impact, poisson_impact, sequential
from .stepping import moreau_jean_step
from .surfaces import curve, level

__all__ = ["Contact", "ContactAccelerations", "Contacts", "Impact", "collision", "contact_accelerations",
           "contacts", "curve", "force_bounds", "friction_cone", "level", "moreau_impact",
           "moreau_jean_step", "newton_impact", "point_curve", "point_plane", "poisson_impact",
           "sequential", "solve_contact", "sphere_plane", "sphere_sphere"]
