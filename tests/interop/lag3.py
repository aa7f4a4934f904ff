"""A first-order lag y' = u - y as PythonFMU3 wants a model: exact for an input held over the step."""
import math

from pythonfmu3 import Fmi3Causality, Fmi3Slave, Fmi3StepResult, Fmi3Variability, Float64


class Lag3(Fmi3Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.time = 0.0
        self.u = 0.0
        self.y = 0.0
        continuous = Fmi3Variability.continuous
        self.register_variable(Float64("time", causality=Fmi3Causality.independent, variability=continuous))
        self.register_variable(Float64("u", causality=Fmi3Causality.input, variability=continuous, start=0))
        self.register_variable(Float64("y", causality=Fmi3Causality.output, variability=continuous))

    def do_step(self, _current_time, step_size):
        self.y = self.u + (self.y - self.u) * math.exp(-step_size)
        return Fmi3StepResult()
