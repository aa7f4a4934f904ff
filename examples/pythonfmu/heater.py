"""A heater with a proportional controller: its power follows the difference to the wanted temperature, slowly."""
import math

from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Real


class Heater(Fmi2Slave):
    author = "Entrain"
    description = "A heater with its controller"

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.temperature = 12.0  # degC
        self.power = 0.0  # W
        self.wanted = 21.0  # degC
        self.gain = 900.0  # W/K
        self.lag = 60.0  # s
        self.register_variable(Real("temperature", causality=Fmi2Causality.input, variability=Fmi2Variability.continuous))
        self.register_variable(Real("power", causality=Fmi2Causality.output, variability=Fmi2Variability.continuous))
        for name in ("wanted", "gain", "lag"):
            self.register_variable(Real(name, causality=Fmi2Causality.parameter, variability=Fmi2Variability.tunable))

    def do_step(self, current_time, step_size):
        request = self.gain * (self.wanted - self.temperature)
        self.power = request + (self.power - request) * math.exp(-step_size / self.lag)
        return True
