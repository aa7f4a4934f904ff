#pragma once

#include <span>
#include <string>
#include <vector>

#include "entrain/coupled_system.hpp"

namespace entrain {

/// Chosen outputs with feedthrough, passed on one step late: y(k+1) = g(x(k), u(k)) (docs/theory/learning.md). What is
/// passed on is then exact, only late, and a learned correction can make up for that; an output found with the inputs
/// of the step before is wrong in a way that cannot be seen.
///
/// g(x(k), u(k)) is evaluated where a subsystem has output_refresh. Else it is found from its linearization, as
/// g(x(k), u(k-1)) + D (u(k) - u(k-1)): exact when the output depends linearly on the inputs.
class LateOutputs {
 public:
  void start(const CoupledSystem& system, std::vector<OutputId> late);
  bool any() const { return !late_.empty(); }

  /// Inputs of the steps that start now are fixed (`first_values`: what all inputs are at their start), nobody has
  /// stepped yet. `starts`: per subsystem, does a step start?
  void before_steps(CoupledSystem& system, std::span<const double> first_values, std::span<const char> starts);
  /// The steps are made. `ends`: per subsystem, did one end?
  void after_steps(CoupledSystem& system, std::span<const char> ends);

  struct Memory {
    std::vector<double> at_start;     ///< of all outputs: where their step under way began
    std::vector<double> found;        ///< of all outputs: as their last step returned them
    std::vector<double> last_inputs;  ///< as they ended their last step

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(at_start, found, last_inputs);
    }
  };
  const Memory& memory() const { return memory_; }
  void restore(const Memory& memory) { memory_ = memory; }

 private:
  struct Source {
    SubsystemId subsystem;
    bool evaluated = true;          // else from the linearization
    std::vector<OutputId> outputs;  // that are late
  };
  void add_linear_part(CoupledSystem& system, std::span<const double> first_values);

  std::vector<OutputId> late_;
  std::vector<Source> sources_;
  Memory memory_;
  // Of the batch under way, kept so that a step allocates nothing.
  std::vector<SubsystemId> batch_;
  std::vector<const Source*> linear_;
  std::vector<Linearization> matrices_;
};

}  // namespace entrain
