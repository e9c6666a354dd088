"""The "llvm" back end of `tape`: a tape as machine code, for one state and for batches in vectors of eight.

Needs llvmlite and numba (the `fast` extra). Every kernel has the same C signature, so that a single compiled
trampoline calls them all:

    flag = kernel(count, a0, a1, a2, a3, out)      flag = 0, NaN where an output is not finite, −1 where a pivot fails
"""

import math
import threading
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from ..spatial import Array
from .recording import Node, Tape

WIDTH, MAX_INPUTS = 8, 4
F64, I64, I1 = ir.DoubleType(), ir.IntType(64), ir.IntType(1)
POINTER = F64.as_pointer()
KERNEL = ir.FunctionType(F64, [I64] + [POINTER] * (MAX_INPUTS + 1))

# sin and cos on [−π/4, π/4] (coefficients of the fdlibm kernels), and π/2 in three parts whose products with
# whole numbers below 2²⁰ are exact
SIN = (-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04, 2.75573137070700676789e-06,
       -2.50507602534068634195e-08, 1.58969099521155010221e-10)
COS = (4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05, -2.75573143513906633035e-07,
       2.08757232129817482790e-09, -1.13596475577881948265e-11)
HALF_PI = (1.57079632673412561417e+00, 6.07710050630396597660e-11, 2.02226624871116645580e-21)
LARGEST = 1e5               # above it the C library reduces the angle

_lock = threading.Lock()
_engine: Any = None
_machine: Any = None


def _llvm() -> tuple:
    """(engine, target machine) of this process, made once."""
    global _engine, _machine
    if _engine is None:
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        target = binding.Target.from_default_triple()
        _machine = target.create_target_machine(opt=2, cpu=binding.get_host_cpu_name(),
                                                features=binding.get_host_cpu_features().flatten())
        _engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _machine)
    return _engine, _machine


def compile_tape(tape: Tape, pivots: dict[int, float], batch: bool = False) -> int:
    """The address of the kernel for one state, or for a batch. pivots: degree of freedom -> smallest allowed pivot."""
    if len(tape.inputs) > MAX_INPUTS:
        raise ValueError(f"a kernel takes at most {MAX_INPUTS} inputs; the tape has {len(tape.inputs)}")
    with _lock:
        engine, machine = _llvm()
        name = f"kernel_{id(tape):x}_{compile_tape.count}"
        compile_tape.count += 1
        module = ir.Module(name=name)
        module.triple, module.data_layout = machine.triple, str(machine.target_data)
        sincos = _sincos(module)
        _single(module, name, tape, pivots, sincos)
        if batch:
            _batch(module, name, tape, pivots, sincos)
        parsed = binding.parse_assembly(str(module))
        parsed.verify()
        engine.add_module(parsed)
        engine.finalize_object()
        return engine.get_function_address(name + "_batch" if batch else name)


compile_tape.count = 0


def _intrinsic(module: ir.Module, name: str, kind: ir.Type) -> ir.Function:
    """LLVM's function of that name on doubles or on vectors of eight of them."""
    full = f"llvm.{name}.{'f64' if kind == F64 else f'v{WIDTH}f64'}"
    return module.globals.get(full) or ir.Function(module, ir.FunctionType(kind, [kind]), full)


def _splat(builder: ir.IRBuilder, value: Any) -> Any:
    return ir.Constant(ir.VectorType(F64, WIDTH), [value] * WIDTH)


def _sincos(module: ir.Module) -> ir.Function:
    """{sin, cos} of eight angles: Cody–Waite reduction and polynomials; the C library where |x| > LARGEST."""
    V = ir.VectorType(F64, WIDTH)
    function = ir.Function(module, ir.FunctionType(ir.LiteralStructType([V, V]), [V]), "sincos8")
    function.linkage = "internal"
    b = ir.IRBuilder(function.append_basic_block())
    x = function.args[0]
    fabs, near = _intrinsic(module, "fabs", V), _intrinsic(module, "rint", V)
    small = b.fcmp_ordered("<=", b.call(fabs, [x]), _splat(b, LARGEST))
    every = b.icmp_unsigned("==", b.bitcast(small, ir.IntType(WIDTH)), ir.Constant(ir.IntType(WIDTH), -1))
    fast, slow = function.append_basic_block("fast"), function.append_basic_block("slow")
    b.cbranch(every, fast, slow)

    b.position_at_end(slow)
    sines, cosines = ir.Constant(V, ir.Undefined), ir.Constant(V, ir.Undefined)
    for lane in range(WIDTH):
        angle = b.extract_element(x, ir.Constant(I64, lane))
        sines, cosines = (b.insert_element(v, b.call(_intrinsic(module, f, F64), [angle]), ir.Constant(I64, lane))
                          for v, f in ((sines, "sin"), (cosines, "cos")))
    b.ret(b.insert_value(b.insert_value(ir.Constant(function.ftype.return_type, ir.Undefined), sines, 0), cosines, 1))

    b.position_at_end(fast)
    n = b.call(near, [b.fmul(x, _splat(b, 2 / math.pi))])
    r = x
    for part in HALF_PI:
        r = b.fsub(r, b.fmul(n, _splat(b, part)))
    z = b.fmul(r, r)

    def polynomial(coefficients: tuple) -> Any:
        total = _splat(b, coefficients[-1])
        for c in reversed(coefficients[:-1]):
            total = b.fadd(b.fmul(total, z, ("contract",)), _splat(b, c), ("contract",))
        return total

    sine = b.fadd(r, b.fmul(b.fmul(r, z), polynomial(SIN)), ("contract",))
    cosine = b.fadd(b.fsub(_splat(b, 1.0), b.fmul(_splat(b, 0.5), z)), b.fmul(b.fmul(z, z), polynomial(COS)), ("contract",))
    quadrant = b.fptosi(n, ir.VectorType(I64, WIDTH))

    def bit(value: Any, mask: int) -> Any:
        one = ir.Constant(ir.VectorType(I64, WIDTH), [mask] * WIDTH)
        return b.icmp_unsigned("!=", b.and_(value, one), ir.Constant(ir.VectorType(I64, WIDTH), [0] * WIDTH))

    odd, after = bit(quadrant, 1), bit(b.add(quadrant, ir.Constant(ir.VectorType(I64, WIDTH), [1] * WIDTH)), 2)
    s, c = b.select(odd, cosine, sine), b.select(odd, sine, cosine)
    s, c = b.select(bit(quadrant, 2), b.fneg(s), s), b.select(after, b.fneg(c), c)
    b.ret(b.insert_value(b.insert_value(ir.Constant(function.ftype.return_type, ir.Undefined), s, 0), c, 1))
    return function


def _emit(b: ir.IRBuilder, tape: Tape, values: dict[int, Any], constant: Any, sincos: Any, sqrt: Any) -> None:
    """The tape's operations in order; `sincos(argument) -> (sin, cos)` for what is not known yet."""
    def operand(node: Node) -> Any:
        return constant(node.value) if node.op == "const" else values[node.index]

    pairs: dict[int, tuple] = {}
    flags = ("contract", "nsz")
    binary = {"add": b.fadd, "sub": b.fsub, "mul": b.fmul, "div": b.fdiv}
    for node in tape.live:
        if node.index in values:
            continue
        x = operand(node.args[0])
        if node.op in binary:
            values[node.index] = binary[node.op](x, operand(node.args[1]), flags=flags)
        elif node.op == "neg":
            values[node.index] = b.fneg(x)
        elif node.op == "sqrt":
            values[node.index] = sqrt(x)
        else:
            key = node.args[0].index
            if key not in pairs:
                pairs[key] = sincos(x)
            values[node.index] = pairs[key][node.op == "cos"]
    for node in [*tape.outputs, *tape.guards.values()]:
        if node.op == "const":
            values[node.index] = constant(node.value)


def _load_inputs(b: ir.IRBuilder, function: ir.Function, tape: Tape, used: set[int], load: Any) -> dict[int, Any]:
    return {node.index: load(function.args[1 + k], j, len(row))
            for k, row in enumerate(tape.inputs) for j, node in enumerate(row) if node.index in used}


def _used(tape: Tape) -> set[int]:
    return ({a.index for node in tape.live for a in node.args if isinstance(a, Node)}
            | {node.index for node in [*tape.outputs, *tape.guards.values()]})


def _single(module: ir.Module, name: str, tape: Tape, pivots: dict[int, float], sincos8: ir.Function) -> None:
    """One state: scalars throughout; the sines and cosines of the inputs eight at a time."""
    function = ir.Function(module, KERNEL, name)
    b = ir.IRBuilder(function.append_basic_block())
    at = lambda pointer, j: b.gep(pointer, [ir.Constant(I64, j)])
    values = _load_inputs(b, function, tape, _used(tape), lambda p, j, _: b.load(at(p, j)))
    angles = [i for i in dict.fromkeys(node.args[0].index for node in tape.live if node.op in ("sin", "cos")) if i in values]
    turned = {}
    for start in range(0, len(angles), WIDTH):
        chunk = angles[start:start + WIDTH]
        vector = _splat(b, 0.0)
        for lane, index in enumerate(chunk):
            vector = b.insert_element(vector, values[index], ir.Constant(I64, lane))
        pair = b.call(sincos8, [vector])
        for lane, index in enumerate(chunk):
            turned[index] = tuple(b.extract_element(b.extract_value(pair, k), ir.Constant(I64, lane)) for k in (0, 1))
    for node in tape.live:
        if node.op in ("sin", "cos") and node.args[0].index in turned:
            values[node.index] = turned[node.args[0].index][node.op == "cos"]
    call = lambda f, x: b.call(_intrinsic(module, f, F64), [x])
    _emit(b, tape, values, lambda c: ir.Constant(F64, c), lambda x: (call("sin", x), call("cos", x)),
          lambda x: call("sqrt", x))
    check = ir.Constant(F64, 0.0)
    for j, node in enumerate(tape.outputs):
        b.store(values[node.index], at(function.args[-1], j))
        check = b.fadd(check, b.fmul(values[node.index], ir.Constant(F64, 0.0)))
    for dof, node in tape.guards.items():
        fails = b.fcmp_unordered("<", values[node.index], ir.Constant(F64, pivots.get(dof, 0.0)))
        check = b.select(fails, ir.Constant(F64, -1.0), check)
    b.ret(check)


def _batch(module: ir.Module, name: str, tape: Tape, pivots: dict[int, float], sincos8: ir.Function) -> None:
    """count states in vectors of eight; the tail of up to seven by the kernel for one state."""
    V = ir.VectorType(F64, WIDTH)
    function = ir.Function(module, KERNEL, name + "_batch")
    b = ir.IRBuilder(function.append_basic_block())
    count, zero = function.args[0], ir.Constant(I64, 0)
    index = cgutils.alloca_once_value(b, zero)
    worst = cgutils.alloca_once_value(b, ir.Constant(F64, 0.0))

    def loop(step: int, body: Any) -> None:
        head, inside, after = (function.append_basic_block() for _ in range(3))
        b.branch(head)
        b.position_at_end(head)
        i = b.load(index)
        b.cbranch(b.icmp_signed("<=", b.add(i, ir.Constant(I64, step)), count), inside, after)
        b.position_at_end(inside)
        body(i)
        b.store(b.add(i, ir.Constant(I64, step)), index)
        b.branch(head)
        b.position_at_end(after)

    def keep(flag: Any) -> None:
        bad = b.fcmp_unordered("!=", flag, ir.Constant(F64, 0.0))
        b.store(b.select(bad, flag, b.load(worst)), worst)

    def eight(i: Any) -> None:
        lanes = [b.add(i, ir.Constant(I64, lane)) for lane in range(WIDTH)]
        place = lambda p, lane, j, size: b.gep(p, [b.add(b.mul(lanes[lane], ir.Constant(I64, size)), ir.Constant(I64, j))])

        def load(pointer: Any, j: int, size: int) -> Any:
            vector = ir.Constant(V, ir.Undefined)
            for lane in range(WIDTH):
                vector = b.insert_element(vector, b.load(place(pointer, lane, j, size)), ir.Constant(I64, lane))
            return vector

        values = _load_inputs(b, function, tape, _used(tape), load)

        def sincos(x: Any) -> tuple:
            pair = b.call(sincos8, [x])
            return b.extract_value(pair, 0), b.extract_value(pair, 1)

        _emit(b, tape, values, lambda c: _splat(b, c), sincos, lambda x: b.call(_intrinsic(module, "sqrt", V), [x]))
        check = _splat(b, 0.0)
        for j, node in enumerate(tape.outputs):
            check = b.fadd(check, b.fmul(values[node.index], _splat(b, 0.0)))
            for lane in range(WIDTH):
                b.store(b.extract_element(values[node.index], ir.Constant(I64, lane)),
                        place(function.args[-1], lane, j, len(tape.outputs)))
        for dof, node in tape.guards.items():
            fails = b.fcmp_unordered("<", values[node.index], _splat(b, pivots.get(dof, 0.0)))
            check = b.select(fails, _splat(b, -1.0), check)
        for lane in range(WIDTH):
            keep(b.extract_element(check, ir.Constant(I64, lane)))

    def one(i: Any) -> None:
        shifted = [b.gep(p, [b.mul(i, ir.Constant(I64, len(row)))]) for p, row in zip(function.args[1:], tape.inputs)]
        shifted += [function.args[1]] * (MAX_INPUTS - len(shifted))
        keep(b.call(module.get_global(name), [ir.Constant(I64, 1), *shifted,
                                              b.gep(function.args[-1], [b.mul(i, ir.Constant(I64, len(tape.outputs)))])]))

    loop(WIDTH, eight)
    loop(1, one)
    b.ret(b.load(worst))


# -- calling them ------------------------------------------------------------------------------------------

@intrinsic
def _call_kernel(context: Any, address: Any, count: Any, a0: Any, a1: Any, a2: Any, a3: Any, out: Any) -> tuple:
    def codegen(context: Any, builder: Any, signature: Any, args: tuple) -> Any:
        pointers = [context.make_array(kind)(context, builder, value).data for kind, value in zip(signature.args[2:], args[2:])]
        function = builder.inttoptr(args[0], KERNEL.as_pointer())
        return builder.call(function, [args[1], *pointers])
    return types.float64(address, count, a0, a1, a2, a3, out), codegen


_ROW = types.Array(types.float64, 1, "C")
WRONG_SIZE = 2.0


def packed(sizes: list[int], size: int) -> int:
    """The sizes of up to three inputs and of the output in one whole number: few arguments make a quick call."""
    s0, s1, s2 = [*sizes, 0, 0, 0][:3]
    return s0 | s1 << 12 | s2 << 24 | size << 36


def _signatures(inputs: int) -> list:
    """The output as a row or as a matrix; contiguous arrays of float64 alone, so that anything else is a TypeError."""
    return [types.float64(types.intp, types.intp, *[_ROW] * inputs, out) for out in (_ROW, types.Array(types.float64, 2, "C"))]


@njit(_signatures(1), nogil=True, cache=True)
def call_1(address: int, sizes: int, a0: Array, out: Array) -> float:
    """Run a kernel of one input on one state; WRONG_SIZE where a size is wrong (then nothing has run)."""
    if a0.size != sizes & 4095 or out.size != sizes >> 36:
        return WRONG_SIZE
    return _call_kernel(address, 1, a0, a0, a0, a0, out)


@njit(_signatures(2), nogil=True, cache=True)
def call_2(address: int, sizes: int, a0: Array, a1: Array, out: Array) -> float:
    """`call_1` for two inputs."""
    if a0.size != sizes & 4095 or a1.size != sizes >> 12 & 4095 or out.size != sizes >> 36:
        return WRONG_SIZE
    return _call_kernel(address, 1, a0, a1, a0, a0, out)


@njit(_signatures(3), nogil=True, cache=True)
def call_3(address: int, sizes: int, a0: Array, a1: Array, a2: Array, out: Array) -> float:
    """`call_1` for three inputs."""
    if (a0.size != sizes & 4095 or a1.size != sizes >> 12 & 4095 or a2.size != sizes >> 24 & 4095 or out.size != sizes >> 36):
        return WRONG_SIZE
    return _call_kernel(address, 1, a0, a1, a2, a0, out)


@njit(types.float64(types.intp, types.intp, _ROW, _ROW, _ROW, _ROW, _ROW), nogil=True, cache=True)
def call_batch(address: int, count: int, a0: Array, a1: Array, a2: Array, a3: Array, out: Array) -> float:
    """Run a batch kernel on `count` states held in flat rows, whose sizes the caller has checked."""
    return _call_kernel(address, count, a0, a1, a2, a3, out)


@njit(types.intp(types.intp, types.intp, types.intp, types.intp[::1], types.float64, types.float64[:, ::1], types.float64[:, ::1],
                 types.float64[:, ::1]), nogil=True, cache=True)
def rk4(address: int, nq: int, n: int, quaternions: Array, dt: float, tau: Array, q: Array, qd: Array) -> int:
    """Classical Runge–Kutta from q[0], qd[0] through all rows; tau has one row, or one per step. Returns the last good row.

    The kernel gives (dq/dt, q̈) at (q, q̇, τ). After each step the quaternions that start at `quaternions` are normalised.
    """
    none, weights, shares = np.empty(0), (1.0, 2.0, 2.0, 1.0), (0.0, 0.5, 0.5, 1.0)
    size = nq + n
    k, total, y = np.zeros(size), np.empty(size), np.empty(size)
    for step in range(q.shape[0] - 1):
        drive = tau[min(step, tau.shape[0] - 1)]
        total[:] = 0.0
        for stage in range(4):
            for j in range(nq):
                y[j] = q[step, j] + shares[stage] * dt * k[j]
            for j in range(n):
                y[nq + j] = qd[step, j] + shares[stage] * dt * k[nq + j]
            if _call_kernel(address, 1, y[:nq], y[nq:], drive, none, k) != 0.0:
                return step
            for j in range(size):
                total[j] += weights[stage] * k[j]
        for j in range(nq):
            q[step + 1, j] = q[step, j] + dt / 6 * total[j]
        for j in range(n):
            qd[step + 1, j] = qd[step, j] + dt / 6 * total[nq + j]
        for start in quaternions:
            norm = 0.0
            for j in range(4):
                norm += q[step + 1, start + j]**2
            for j in range(4):
                q[step + 1, start + j] /= math.sqrt(norm)
        k[:] = 0.0
    return q.shape[0] - 1
