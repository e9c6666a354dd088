"""The figures that answer, by name: each a function that makes its `Figure`."""

from . import contact, energy

FIGURES = {figure.__name__: figure for figure in (
    energy.rp_arm, energy.velocity_terms, energy.double_pendulum, energy.mass_matrix, energy.friction, contact.five_bar,
    contact.effective_mass, contact.four_legs, contact.contact_law, contact.friction_cone, contact.bouncing_ball)}
