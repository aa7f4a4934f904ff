#pragma once

#include <span>
#include <utility>
#include <vector>

#include "coupling/constraint.hpp"
#include "entrain/coupled_system.hpp"
#include "entrain/fact.hpp"
#include "entrain/method.hpp"

namespace entrain::running {

/// The forces of rigid connections: held over a macro step, such that the two sides are equal at its end, as their
/// linearizations predict it (docs/theory/constraints.md).
class ConstraintForces {
 public:
  /// Before `begin`.
  void set(std::vector<coupling::Constraint> constraints) { constraints_ = std::move(constraints); }
  bool empty() const { return constraints_.empty(); }
  /// The system is initialised and the method has started.
  void begin(CoupledSystem& system, const RunSettings& settings);
  /// Before a macro step from `now`. Throws Error{LoopNotSolved} where a force has no
  /// effect of its own.
  void solve(CoupledSystem& system, Time now);
  /// After a macro step.
  void measure(CoupledSystem& system);
  /// The forces, to the corrections of the inputs.
  void add_to(std::span<double> corrections) const;
  std::vector<Fact> notes() const;

  struct Course {
    double force = 0.0;
    double at_start = 0.0;  // difference of the integrals
    double most_force = 0.0;
    double most_difference = 0.0;
    double most_drift = 0.0;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(force, at_start, most_force, most_difference, most_drift);
    }
  };
  struct Memory {
    std::vector<Course> courses;  // by constraint

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(courses);
    }
  };
  const Memory& memory() const { return memory_; }
  void restore(const Memory& memory) { memory_ = memory; }

 private:
  /// A subsystem with constraints: how its outputs at the end of a step follow from its rates.
  struct Side {
    SubsystemId subsystem;
    Linearization linearization, known_for;
    Duration size = 0.0;
    Matrix response;  ///< of the outputs at the end to constant rates of the states
    std::vector<double> rates;
  };
  /// The integral of an output, in states of its subsystem; empty where it has none.
  struct Integrals {
    std::vector<double> one, other;
  };
  Side& side_of(SubsystemId s);
  void predict(CoupledSystem& system, Side& side, Duration size);
  double end_of(CoupledSystem& system, OutputId output);
  double effect(const CoupledSystem& system, OutputId output, InputId input);
  double drift_of(CoupledSystem& system, std::size_t which);
  [[noreturn]] void throw_singular(std::size_t which, Time now) const;

  RunSettings settings_;
  std::vector<coupling::Constraint> constraints_;
  std::vector<Integrals> integrals_;  // by constraint
  std::vector<Side> sides_;
  Matrix effects_;  // of the forces on the differences
  std::vector<double> right_side_, states_;
  Memory memory_;
};

}  // namespace entrain::running
