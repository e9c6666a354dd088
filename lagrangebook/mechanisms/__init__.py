"""The book's cast: mechanisms with published or stated parameters as keyword defaults; symbols are accepted.

Planar mechanisms lie in x–y, turn about +z and fall along −y; the others fall along −z.
"""

from .arms import arm7, puma560, ur6
from .chains import cart_pole, pendulum, rp_arm, two_link, vertical_mass
from .closed import andrews, andrews_forces, bricard, five_bar, four_bar, parallelogram, slider_crank, table
from .legs import biped, stance_leg
from .mechanism import Mechanism

__all__ = ["Mechanism", "andrews", "andrews_forces", "arm7", "biped", "bricard", "cart_pole", "five_bar", "four_bar",
           "parallelogram", "pendulum", "puma560", "rp_arm", "slider_crank", "stance_leg", "table", "two_link", "ur6",
           "vertical_mass"]
