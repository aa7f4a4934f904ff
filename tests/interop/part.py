"""Halves of coupled systems as PythonFMU wants a model. What `kind` selects stands in PARTS, which the truth is made of,
too. Each integrates inside its step as many exported models do: by Runge-Kutta steps of at most `inner`, under inputs
held over the step."""
import math

from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Integer, Real


class Equations:
    """x' = rates(t, x, u), y = outputs(x, u), from x = start."""

    def __init__(self, start, rates, outputs):
        self.start, self.rates, self.outputs = start, rates, outputs


PARTS = [
    # A mass on a spring, pulled by a force; the other mass, which answers with the force of the spring between them.
    Equations([1.0, 0.0], lambda t, x, u: [x[1], -4.0 * x[0] - 0.2 * x[1] + u[0]], lambda x, u: [x[0], x[1]]),
    Equations([0.0, 0.0], lambda t, x, u: [x[1], -9.0 * x[0] - 2.0 * (x[0] - u[0]) - 0.1 * (x[1] - u[1])],
              lambda x, u: [2.0 * (x[0] - u[0]) + 0.1 * (x[1] - u[1]), x[0]]),
    # Prey and predator.
    Equations([1.0], lambda t, x, u: [x[0] * (2.0 / 3.0 - 4.0 / 3.0 * u[0])], lambda x, u: [x[0], 0.0]),
    Equations([1.0], lambda t, x, u: [x[0] * (u[0] - 1.0)], lambda x, u: [x[0], 0.0]),
    # The oscillator of van der Pol, cut between position and velocity.
    Equations([2.0], lambda t, x, u: [u[0]], lambda x, u: [x[0], 0.0]),
    Equations([0.0], lambda t, x, u: [(1.0 - u[0] * u[0]) * x[0] - u[0]], lambda x, u: [x[0], 0.0]),
    # A heater and a room with losses to an outside that varies.
    Equations([20.0], lambda t, x, u: [0.5 * (60.0 - x[0]) - 0.2 * (x[0] - u[0])], lambda x, u: [x[0], 0.0]),
    Equations([15.0], lambda t, x, u: [0.1 * (u[0] - x[0]) - 0.05 * (x[0] - 5.0 - 5.0 * math.sin(0.5 * t))],
              lambda x, u: [x[0], 0.0]),
]


class Part(Fmi2Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.kind, self.inner = 0, 0.001
        self.u0 = self.u1 = 0.0
        self.x = []
        constant = {"causality": Fmi2Causality.parameter, "variability": Fmi2Variability.fixed}
        self.register_variable(Integer("kind", **constant))
        self.register_variable(Real("inner", **constant))
        for name in ("u0", "u1"):
            self.register_variable(Real(name, causality=Fmi2Causality.input, variability=Fmi2Variability.continuous))
        for i, name in enumerate(("y0", "y1")):
            self.register_variable(Real(name, causality=Fmi2Causality.output, variability=Fmi2Variability.continuous,
                                        getter=lambda i=i: self.outputs()[i]))

    def outputs(self):
        return PARTS[self.kind].outputs(self.x or PARTS[self.kind].start, [self.u0, self.u1])

    def do_step(self, current_time, step_size):
        count = max(1, math.ceil(step_size / self.inner - 1e-9))
        h = step_size / count
        inputs = [self.u0, self.u1]
        self.x = self.x or PARTS[self.kind].start
        for i in range(count):
            self.x = runge_kutta(PARTS[self.kind], current_time + i * h, h, self.x, inputs)
        return True


def runge_kutta(part, t, h, x, u):
    def ahead(slope, share):
        return [a + share * h * b for a, b in zip(x, slope)]
    k1 = part.rates(t, x, u)
    k2 = part.rates(t + h / 2, ahead(k1, 0.5), u)
    k3 = part.rates(t + h / 2, ahead(k2, 0.5), u)
    k4 = part.rates(t + h, ahead(k3, 1.0), u)
    return [a + h / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in zip(x, k1, k2, k3, k4)]
