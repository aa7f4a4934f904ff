#pragma once

#include "entrain/coupled_system.hpp"

namespace entrain::coupling {

/// Of all subsystems since their initialization: steps, those that were taken back included, ways back, linearizations.
inline double calls_made(const CoupledSystem& system) {
  double calls = 0.0;
  for (std::size_t s = 0; s < system.size(); ++s) {
    const auto& counters = system.counters(SubsystemId{s});
    calls += static_cast<double>(counters.steps + counters.rollbacks + counters.linearizations);
  }
  return calls;
}

/// Adds the calls that a system has made by the end of the scope, however that is left.
class CallCount {
 public:
  CallCount(const CoupledSystem& system, double& sum) : system_(system), sum_(sum) {}
  ~CallCount() { sum_ += calls_made(system_); }
  CallCount(const CallCount&) = delete;
  CallCount& operator=(const CallCount&) = delete;

 private:
  const CoupledSystem& system_;
  double& sum_;
};

}  // namespace entrain::coupling
