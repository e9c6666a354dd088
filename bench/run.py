"""Side-by-side measurements against Pinocchio and MuJoCo: `python make.py bench` (the peers extra).

Every figure is a ratio to a peer, taken in one process in interleaved bursts; results are compared before anything is
timed. Writes bench/results.json, which the chapter on speed prints.
"""

import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from lagrangebook.constraints import assemble, constrained_accelerations
from lagrangebook.mechanisms import arm7, five_bar, pendulum, pile, puma560, two_link
from lagrangebook.model import GROUND
from lagrangebook.standard_form import of_model
from lagrangebook.tape import compiled
from lagrangebook.tape.closed import closed_kernel, record_closed
from lagrangebook.tape.recording import python_function

RESULTS = Path(__file__).with_name("results.json")
BURSTS, SECONDS = 40, 0.01


def interleaved(mine, peer):
    """(best ratio, 20th percentile of ratios, my µs, the peer's µs): short bursts of both, one after the other."""
    def calls(f):
        start, count = time.perf_counter(), 0
        while time.perf_counter() - start < SECONDS:
            f()
            count += 1
        return max(count, 1)

    def burst(f, count):
        start = time.perf_counter()
        for _ in range(count):
            f()
        return (time.perf_counter() - start) / count

    mine(), peer()                                  # what is made at the first call does not count
    counts = calls(mine), calls(peer)
    times = np.array([(burst(mine, counts[0]), burst(peer, counts[1])) for _ in range(BURSTS)])
    ratios = times[:, 0] / times[:, 1]
    best = times.min(axis=0)
    return {"best": best[0] / best[1], "p20": float(np.percentile(ratios, 20)), "us": best[0] * 1e6, "peer_us": best[1] * 1e6}


def pinocchio_model(pin, model):
    """The same tree in Pinocchio, bodies renumbered depth-first by Pinocchio itself: one-axis joints only."""
    peer, index = pin.Model(), {GROUND: 0}
    peer.gravity = pin.Motion(np.asarray(model.gravity, dtype=float), np.zeros(3))
    for i, body in model.outward:
        kind = pin.JointModelRevoluteUnaligned if body.joint.kind == "revolute" else pin.JointModelPrismaticUnaligned
        aligned = {("revolute", (1, 0, 0)): pin.JointModelRX, ("revolute", (0, 1, 0)): pin.JointModelRY,
                   ("revolute", (0, 0, 1)): pin.JointModelRZ, ("prismatic", (1, 0, 0)): pin.JointModelPX,
                   ("prismatic", (0, 1, 0)): pin.JointModelPY, ("prismatic", (0, 0, 1)): pin.JointModelPZ}
        key = body.joint.kind, tuple(float(x) for x in body.joint.axis)
        joint = aligned[key]() if key in aligned else kind(np.asarray(body.joint.axis, dtype=float))
        index[i] = peer.addJoint(index[body.parent], joint, pin.SE3(np.asarray(body.placement.R, dtype=float),
                                                                    np.asarray(body.placement.p, dtype=float)), body.name)
        inertia = body.inertia
        peer.appendBodyToJoint(index[i], pin.Inertia(float(inertia.mass), np.asarray(inertia.com, dtype=float),
                                                     np.asarray(inertia.about_com, dtype=float)), pin.SE3.Identity())
    return peer


def humanoid32():
    """A humanoid of 32 one-axis joints on a fixed trunk: two legs of six, two arms of seven, a waist and neck of six."""
    from lagrangebook.inertia import box
    from lagrangebook.model import Body, Joint, Model
    from lagrangebook.spatial import Pose
    axes = np.eye(3)
    bodies = []

    def limb(parent, name, n, at, step):
        for k in range(n):
            bodies.append(Body(f"{name} {k}", parent, Joint("revolute", axes[(k + 2) % 3]), Pose(p=np.array(at if k == 0 else step)),
                               box(1.0 + 0.1 * k, 0.1, 0.12, 0.2)))
            parent = len(bodies) - 1
        return parent

    waist = limb(GROUND, "waist", 3, (0, 0, 1.0), (0, 0, 0.1))
    limb(waist, "neck", 3, (0, 0, 0.4), (0, 0, 0.05))
    sides = (("left", 0.1), ("right", -0.1))        # depth-first: other numberings make the peer's crba wrong
    for side, y in sides:
        limb(waist, f"{side} arm", 7, (0, 2 * y, 0.35), (0, 0, -0.15))
    for side, y in sides:
        limb(GROUND, f"{side} leg", 6, (0, y, 0.9), (0, 0, -0.2))
    return Model(tuple(bodies), name="humanoid of 32")


def same(a, b, name):
    error = np.max(np.abs(a - b)) / (1 + np.max(np.abs(b)))
    assert error < 1e-11, f"{name}: differs from the peer by {error:.1e}"


def single_states(pin, rows):
    rng = np.random.default_rng(0)
    for label, model in (("2R", two_link()), ("Puma 560", puma560()), ("7R", arm7()), ("32 joints", humanoid32())):
        fast, peer = compiled(model), pinocchio_model(pin, model)
        data, n = peer.createData(), model.n
        q, qd, x = rng.normal(size=(3, n))
        out, out2, Y = np.empty(n), np.empty((n, n)), np.empty((n, 10 * model.N))
        order = [k for body in model.bodies for k in range(peer.nv)
                 if peer.names[1 + k] == body.name]             # our joint -> Pinocchio's
        perm = np.array(order)
        pq, pv, px = (np.empty(n) for _ in range(3))
        pq[perm], pv[perm], px[perm] = q, qd, x
        upper = lambda M: np.triu(M) + np.triu(M, 1).T
        same(fast.rnea(q, qd, x), pin.rnea(peer, data, pq, pv, px)[perm], "rnea")
        same(fast.crba(q), upper(pin.crba(peer, data, pq))[np.ix_(perm, perm)], "crba")
        same(fast.forward(q, qd, x), pin.aba(peer, data, pq, pv, px)[perm], "forward")
        same(fast.coriolis(q, qd) @ qd, (pin.computeCoriolisMatrix(peer, data, pq, pv) @ pv)[perm], "coriolis")
        pairs = {"RNEA": (lambda: fast.rnea(q, qd, x, out=out), lambda: pin.rnea(peer, data, pq, pv, px)),
                 "RNEA, allocating": (lambda: fast.rnea(q, qd, x), lambda: pin.rnea(peer, data, pq, pv, px)),
                 "CRBA": (lambda: fast.crba(q, out=out2), lambda: pin.crba(peer, data, pq)),
                 "forward": (lambda: fast.forward(q, qd, x, out=out), lambda: pin.aba(peer, data, pq, pv, px)),
                 "forward, allocating": (lambda: fast.forward(q, qd, x), lambda: pin.aba(peer, data, pq, pv, px)),
                 "Coriolis": (lambda: fast.coriolis(q, qd, out=out2), lambda: pin.computeCoriolisMatrix(peer, data, pq, pv)),
                 "gravity": (lambda: fast.gravity(q, out=out), lambda: pin.computeGeneralizedGravity(peer, data, pq)),
                 "regressor": (lambda: fast.regressor(q, qd, x, out=Y), lambda: pin.computeJointTorqueRegressor(peer, data, pq, pv, px))}
        for name, (mine, theirs) in pairs.items():
            rows.append({"group": "one state", "model": label, "quantity": name, "peer": "Pinocchio", **interleaved(mine, theirs)})
        plain = compiled(model, "python")
        if n <= 7:
            rows.append({"group": "no compiler", "model": label, "quantity": "RNEA", "peer": "Pinocchio",
                         **interleaved(lambda: plain.rnea(q, qd, x), lambda: pin.rnea(peer, data, pq, pv, px))})


def chains(pin, rows):
    for n in (10, 20, 50, 100):
        model = pendulum(n, m=0.3, l=0.2)
        fast, peer = compiled(model), pinocchio_model(pin, model)
        data, (q, qd, x), out = peer.createData(), np.random.default_rng(n).normal(size=(3, n)), np.empty(n)
        same(fast.rnea(q, qd, x), pin.rnea(peer, data, q, qd, x), "rnea of a chain")
        for name, mine, theirs in (("RNEA", fast.rnea, pin.rnea), ("forward", fast.forward, pin.aba)):
            rows.append({"group": "chains", "model": f"chain of {n}", "quantity": name, "peer": "Pinocchio",
                         **interleaved(lambda: mine(q, qd, x, out=out), lambda: theirs(peer, data, q, qd, x))})


def closed_loop(pin, rows):
    """q̈ and λ of the five-bar, its tips held together: Pinocchio's point constraint has a third row, along z, that is
    always zero, so its proximal solver needs a small regularisation and repeats the solution until the rows are kept."""
    five = five_bar()
    model, loop = five.model, five.loops[0]
    peer = pinocchio_model(pin, model)
    data, end = peer.createData(), pin.SE3(np.eye(3), np.array([0.3, 0, 0]))
    tips = (peer.getJointId("left distal"), end, peer.getJointId("right distal"), end)
    pins, pins_data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    pins.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, peer, *tips, pin.LOCAL))
    pins_data.append(pins[0].createData())
    pin.initConstraintDynamics(peer, data, pins, pins_data)
    settings = pin.ProximalSettings(1e-10, 1e-8, 10)
    q = assemble(loop, np.array([2.1, -1.5, 0.9, 1.6])).q
    J = loop.J(q)
    qd, tau = np.linalg.svd(J)[2][2:].T @ [1.0, 0.5], np.array([1.5, 0, -0.8, 0])
    fast, plain, out = closed_kernel(model, loop), python_function(record_closed(model, loop)), np.empty(6)
    theirs = lambda: pin.constraintDynamics(peer, data, q, qd, tau, pins, pins_data, settings)
    slow = constrained_accelerations(of_model(model)(q, qd), tau, J, loop.bias(q, qd))
    same(fast(q, qd, tau)[:4], theirs(), "closed loop")
    same(fast(q, qd, tau), np.concatenate([slow.qdd, slow.lam]), "closed loop, plain")
    a, b, c = q.tolist(), qd.tolist(), tau.tolist()
    for group, name, mine in (("closed loop", "accelerations and forces", lambda: fast(q, qd, tau, out=out)),
                              ("closed loop", "the same, allocating", lambda: fast(q, qd, tau)),
                              ("no compiler", "closed loop", lambda: plain(a, b, c))):
        rows.append({"group": group, "model": "five-bar", "quantity": name, "peer": "Pinocchio", **interleaved(mine, theirs)})


def batches(pin, rows, count=100_000):
    model = puma560()
    fast, block, peer = compiled(model), compiled(model, "numpy"), pinocchio_model(pin, model)
    data, (q, qd, x) = peer.createData(), np.random.default_rng(0).normal(size=(3, count, 6))
    out, out2 = np.empty((count, 6)), np.empty((count, 6, 6))

    def loop(f):
        return lambda: [f(peer, data, a, b, c) for a, b, c in zip(q[:2000], qd[:2000], x[:2000])]

    def scaled(mine, theirs):
        times = []
        for _ in range(7):
            start = time.perf_counter()
            mine()
            middle = time.perf_counter()
            theirs()
            times.append((middle - start, (time.perf_counter() - middle) * count / 2000))
        times = np.array(times)
        best = times.min(axis=0)
        return {"best": best[0] / best[1], "p20": float(np.percentile(times[:, 0] / times[:, 1], 20)),
                "us": best[0] / count * 1e6, "peer_us": best[1] / count * 1e6}

    for name, mine, theirs in (("RNEA", lambda: fast.rnea(q, qd, x, out=out), loop(pin.rnea)),
                               ("forward", lambda: fast.forward(q, qd, x, out=out), loop(pin.aba)),
                               ("CRBA", lambda: fast.crba(q, out=out2), loop(lambda m, d, a, b, c: pin.crba(m, d, a))),
                               ("RNEA, numpy alone", lambda: block.rnea(q, qd, x, out=out), loop(pin.rnea))):
        rows.append({"group": "batch of 100 000", "model": "Puma 560", "quantity": name, "peer": "Pinocchio, one call a state",
                     **scaled(mine, theirs)})


def mujoco_rows(rows):
    """One second of the Puma at the same Runge–Kutta step of 1 ms."""
    try:
        import mujoco
    except ImportError:
        return
    model = puma560()
    fast = compiled(model)
    text = ["<mujoco><compiler angle='radian' inertiafromgeom='false' balanceinertia='false' boundmass='0' boundinertia='0'/>"
            "<option timestep='0.001' integrator='RK4' gravity='0 0 -9.81'><flag contact='disable' constraint='disable'/></option><worldbody>"]
    for i, body in model.outward:
        from lagrangebook.spatial import quaternion_of
        x, y, z, w = quaternion_of(np.asarray(body.placement.R, dtype=float))
        # MuJoCo refuses impossible bodies: a small sphere's inertia is added to both models alike
        p, c = body.placement.p, body.inertia.com
        I = np.asarray(body.inertia.about_com, dtype=float) + np.eye(3) * 0.5
        text.append(f"<body pos='{p[0]} {p[1]} {p[2]}' quat='{w} {x} {y} {z}'><joint axis='0 0 1'/>"
                    f"<inertial mass='{body.inertia.mass + 0.1}' pos='{c[0]} {c[1]} {c[2]}' "
                    f"fullinertia='{I[0, 0]} {I[1, 1]} {I[2, 2]} {I[0, 1]} {I[0, 2]} {I[1, 2]}'/>")
    peer = mujoco.MjModel.from_xml_string("".join(text) + "</body>" * model.N + "</worldbody></mujoco>")
    from dataclasses import replace

    from lagrangebook.inertia import Inertia
    fast = compiled(replace(model, bodies=tuple(replace(b, inertia=Inertia(b.inertia.mass + 0.1, b.inertia.com,
                    b.inertia.about_com + np.eye(3) * 0.5)) for b in model.bodies), name="Puma 560 with padded bodies"))
    q0, qd0, data = np.array([0.1, 0.5, -0.8, 0.2, 0.4, 0.1]), np.zeros(6), mujoco.MjData(peer)

    def theirs():
        mujoco.mj_resetData(peer, data)
        data.qpos[:], data.qvel[:] = q0, qd0
        for _ in range(1000):
            mujoco.mj_step(peer, data)

    theirs()
    q, _, _ = fast.rk4(q0, qd0, np.zeros(6), 1e-3, 1000)
    assert np.max(np.abs(q[-1] - data.qpos)) < 1e-6, f"the two simulations part by {np.max(np.abs(q[-1] - data.qpos)):.1e}"
    rows.append({"group": "simulation", "model": "Puma 560", "quantity": "1 s by Runge–Kutta steps of 1 ms", "peer": "MuJoCo",
                 **interleaved(lambda: fast.rk4(q0, qd0, np.zeros(6), 1e-3, 1000), theirs)})


def pile_rows(rows, dt=0.005):
    """A step of the pile of twenty discs that has come down: contacts solved to 1e-10, and MuJoCo's soft ones."""
    try:
        import mujoco
    except ImportError:
        return
    from lagrangebook.contact.stepping import moreau_jean_step
    from lagrangebook.simulate import simulate
    heap, R = pile(), 0.1
    fast, n = compiled(heap.model), heap.model.n
    walls = "".join(f"<geom type='plane' size='0 0 1' pos='{x} 0 0' zaxis='{z}'/>"
                    for x, z in ((0, "0 1 0"), (0, "1 0 0"), (-heap.contacts.offsets[2], "-1 0 0")))
    discs = "".join(f"<body pos='{x} {y} 0'><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/><joint axis='0 0 1'/>"
                    f"<geom type='sphere' size='{R}'/><inertial pos='0 0 0' mass='1' diaginertia='0.0025 0.0025 0.005'/></body>"
                    for x, y, _ in (body.placement.p for body in heap.model.bodies))
    peer = mujoco.MjModel.from_xml_string(
        f"<mujoco><option timestep='{dt}' gravity='0 -9.81 0' cone='elliptic'/><compiler inertiafromgeom='false'/>"
        f"<default><geom friction='0.5 0 0' condim='3'/></default><worldbody>{walls}{discs}</worldbody></mujoco>")
    data = mujoco.MjData(peer)

    run = simulate(fast, heap.model.zero, np.zeros(n), dt * np.arange(401), method="moreau_jean", contacts=heap.contacts)
    for _ in range(400):
        mujoco.mj_step(peer, data)
    height = np.array([body.placement.p[1] for body in heap.model.bodies])
    mean = np.mean(height + run.q[-1, 1::3]), np.mean(height + data.qpos[1::3])
    assert run.status == "finished" and abs(mean[0] / mean[1] - 1) < 0.03, f"the piles are {mean[0]:.3f} and {mean[1]:.3f} m high"
    assert moreau_jean_step(fast, run.q[-1], run.qd[-1], dt, heap.contacts, start=run.impulses[-1]).status == "solved"
    rows.append({"group": "pile", "model": "20 discs", "quantity": "a step of 5 ms, 32 contacts", "peer": "MuJoCo", **interleaved(
        lambda: moreau_jean_step(fast, run.q[-1], run.qd[-1], dt, heap.contacts, start=run.impulses[-1]),
        lambda: mujoco.mj_step(peer, data))})


def symbolic_peer(rows):
    """A double pendulum from energies to code: ours, and sympy.physics.mechanics' LagrangesMethod with lambdify."""
    import sympy
    from sympy.physics.mechanics import LagrangesMethod, Particle, Point, ReferenceFrame, dynamicsymbols

    from lagrangebook.tape.compiled import _Kernel

    def theirs():
        q, t = dynamicsymbols("q1 q2"), dynamicsymbols._t
        frame, origin = ReferenceFrame("N"), Point("O")
        origin.set_vel(frame, 0)
        particles, height, last, angle = [], 0, origin, 0
        for k in range(2):
            angle = angle + q[k]
            point = last.locatenew(f"P{k}", sympy.sin(angle) * frame.x - sympy.cos(angle) * frame.y)
            point.set_vel(frame, point.pos_from(origin).dt(frame))
            particles.append(Particle(f"m{k}", point, 1))
            height, last = height + point.pos_from(origin).dot(frame.y), point
        K = sum(particle.kinetic_energy(frame) for particle in particles)
        method = LagrangesMethod(K - 9.81 * height, q)
        method.form_lagranges_equations()
        rates = [x.diff(t) for x in q]
        sympy.lambdify([*q, *rates], [method.mass_matrix, method.forcing])

    def mine():
        for name in ("crba", "rnea"):
            _Kernel(pendulum(2), name, "python", ()).tape.source()

    times = []
    for f in (mine, theirs):
        f()
        start = time.perf_counter()
        f()
        times.append(time.perf_counter() - start)
    rows.append({"group": "derive", "model": "pendulum of 2", "quantity": "M and h as code", "peer": "sympy LagrangesMethod, lambdify",
                 "best": times[0] / times[1], "p20": times[0] / times[1], "us": times[0] * 1e6, "peer_us": times[1] * 1e6})


def own_times(rows):
    """Times without a peer: compiling, deriving, importing."""
    from lagrangebook.tape.compiled import _Kernel
    for label, model, name in (("Puma 560", puma560(), "rnea"), ("32 joints", humanoid32(), "forward")):
        best = np.inf
        for _ in range(3):
            start = time.perf_counter()
            _Kernel(model, name, "llvm", ()).address(False)
            best = min(best, time.perf_counter() - start)
        rows.append({"group": "compile", "model": label, "quantity": name, "seconds": best})
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        for name in ("crba", "rnea"):
            _Kernel(puma560(), name, "python", ()).tape.source()
        best = min(best, time.perf_counter() - start)
    rows.append({"group": "derive", "model": "Puma 560", "quantity": "M and h as code", "seconds": best})
    code = "import numpy, time; t = time.process_time(); import lagrangebook, lagrangebook.newton_euler, lagrangebook.standard_form; print(time.process_time() - t)"
    cost = min(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout) for _ in range(5))
    rows.append({"group": "import", "model": "", "quantity": "CPU beyond numpy", "seconds": cost})


PARTS = {"single_states": True, "chains": True, "closed_loop": True, "batches": True, "mujoco_rows": False,
         "pile_rows": False, "symbolic_peer": False, "own_times": False}     # does it want Pinocchio?


def main(*chosen):
    """All parts, or the chosen ones alone, whose rows take the place of those of the last run."""
    import pinocchio as pin
    rows = []
    for name in chosen or PARTS:
        globals()[name](*[pin] * PARTS[name], rows)
    new = {(row["group"], row["model"], row["quantity"]) for row in rows}
    if chosen:
        rows = [row for row in json.loads(RESULTS.read_text())["rows"]
                if (row["group"], row["model"], row["quantity"]) not in new] + rows
    cpu = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
               platform.processor()) if Path("/proc/cpuinfo").exists() else platform.processor()
    machine = {"cpu": cpu, "cores": os.cpu_count(), "python": platform.python_version(), "numpy": np.__version__,
               "pinocchio": pin.__version__, "date": time.strftime("%Y-%m-%d")}
    RESULTS.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1) + "\n")
    for row in rows:
        value = f"{row['best']:.3f} ({row['p20']:.3f})" if "best" in row else f"{row['seconds']:.3f} s"
        print(f"{row['group']:>18} {row['model']:>12} {row['quantity']:<34} {value}")


if __name__ == "__main__":
    main(*sys.argv[1:])
