#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "entrain/coupled_system.hpp"
#include "entrain/method.hpp"
#include "run/redundant_integrals.hpp"

namespace entrain::running {

/// How far integrals that both sides of a connection keep drift apart; on request a correction of the inputs that
/// brings them together (docs/theory/drift.md).
class DriftMonitor {
 public:
  /// Before `begin`.
  void correct() { corrects_ = true; }
  /// The system is initialised and the method has started.
  void begin(CoupledSystem& system, const RunSettings& settings);
  /// After a macro step.
  void update(CoupledSystem& system, Time now) {
    if (!integrals_.empty()) follow(system, now);
  }
  bool empty() const { return integrals_.empty(); }  ///< there is nothing to follow
  /// Inputs are corrected in this run.
  bool acts() const { return corrects_ && !integrals_.empty(); }
  void add_to(std::span<double> corrections) const;
  std::vector<Fact> notes(const Graph& graph) const;

  struct Course {
    double at_start = 0.0;
    double drift = 0.0;
    double most = 0.0;
    double low = 0.0, high = 0.0;  // of the integral itself
    Time measured = 0.0;
    double correction = 0.0;  // of the rate, until the next measurement
    bool ended = false;       // the equations changed

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(at_start, drift, most, low, high, measured, correction, ended);
    }
  };
  struct Memory {
    std::uint64_t steps = 0;
    std::vector<Course> courses;  // by integral

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(steps, courses);
    }
  };
  const Memory& memory() const { return memory_; }
  void restore(const Memory& memory) { memory_ = memory; }

 private:
  /// Of the subsystem that integrates its inputs, and of their sources with the opposite sign.
  struct Sides {
    double first = 0.0, rest = 0.0;
  };
  Sides sides_of(CoupledSystem& system, const RedundantIntegral& integral);
  void follow(CoupledSystem& system, Time now);
  void measure(CoupledSystem& system, std::size_t which, Time now);

  bool corrects_ = false;
  Time stop_ = 0.0;
  Time start_ = 0.0;
  std::vector<RedundantIntegral> integrals_;
  std::vector<double> states_;
  Linearization linearization_;  // of the subsystem looked at last
  Memory memory_;
};

}  // namespace entrain::running
