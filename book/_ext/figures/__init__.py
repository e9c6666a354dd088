"""The figures that answer, by name: each a function that makes its `Figure`."""

from . import constraints, contact, energy

FIGURES = {
    figure.__name__: figure
    for figure in (
        energy.rp_arm, energy.velocity_terms, energy.double_pendulum, energy.mass_matrix, contact.friction,
        constraints.five_bar, constraints.effective_mass, constraints.four_legs, contact.contact_law,
        contact.friction_cone, contact.bouncing_ball)
}
