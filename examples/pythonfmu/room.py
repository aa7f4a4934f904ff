"""A room that loses heat to a cold outside, as PythonFMU wants a model: exact for a heating power held over the step."""
import math

from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Real


class Room(Fmi2Slave):
    author = "Entrain"
    description = "A room with losses to the outside"

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.power = 0.0  # W
        self.temperature = 12.0  # degC
        self.outside = 0.0  # degC
        self.loss = 100.0  # W/K
        self.capacity = 2.0e5  # J/K
        self.register_variable(Real("power", causality=Fmi2Causality.input, variability=Fmi2Variability.continuous))
        self.register_variable(Real("temperature", causality=Fmi2Causality.output, variability=Fmi2Variability.continuous))
        for name in ("outside", "loss", "capacity"):
            self.register_variable(Real(name, causality=Fmi2Causality.parameter, variability=Fmi2Variability.tunable))

    def do_step(self, current_time, step_size):
        end = self.outside + self.power / self.loss
        self.temperature = end + (self.temperature - end) * math.exp(-step_size * self.loss / self.capacity)
        return True
