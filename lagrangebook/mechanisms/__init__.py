"""The book's cast: mechanisms with published or stated parameters as keyword defaults; symbols are accepted.

Planar mechanisms lie in x–y, turn about +z and fall along −y; the others fall along −z.
"""

from .arms import arm7, puma560, ur6
from .chains import cart_pole, pendulum, rp_arm, two_link, vertical_mass
from .closed import andrews, andrews_forces, bricard, five_bar, four_bar, parallelogram, slider_crank, table
from .legs import biped, stance_leg
from .mechanism import Mechanism
from .touching import ball, bouncing_ball, box_on_corners, pile, rocking_block, rocking_state, sliding_rod, walker

__all__ = ["Mechanism", "andrews", "andrews_forces", "arm7", "ball", "biped", "bouncing_ball", "box_on_corners",
           "bricard", "cart_pole", "five_bar", "four_bar", "parallelogram", "pendulum", "pile", "puma560", "rocking_block",
           "rocking_state", "rp_arm", "slider_crank", "sliding_rod", "stance_leg", "table", "two_link", "ur6",
           "vertical_mass", "walker"]
