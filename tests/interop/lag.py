"""A first-order lag y' = u - y as PythonFMU wants a model: exact for an input held over the step."""
import math

from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Real


class Lag(Fmi2Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.u = 0.0
        self.y = 0.0
        self.register_variable(Real("u", causality=Fmi2Causality.input, variability=Fmi2Variability.continuous))
        self.register_variable(Real("y", causality=Fmi2Causality.output, variability=Fmi2Variability.continuous))

    def do_step(self, _current_time, step_size):
        self.y = self.u + (self.y - self.u) * math.exp(-step_size)
        return True
