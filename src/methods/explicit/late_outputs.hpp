#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "entrain/coupled_system.hpp"
#include "entrain/options.hpp"
#include "methods/explicit/explicit_stepper.hpp"

namespace entrain::method {

/// Outputs that follow inputs at once.
enum class FeedthroughTreatment { Hold, Delay, Refresh };

}  // namespace entrain::method

namespace entrain {
template <>
struct ChoiceNames<method::FeedthroughTreatment> {
  static constexpr std::array<ChoiceName<method::FeedthroughTreatment>, 3> all{
      {{method::FeedthroughTreatment::Hold, "hold"},
       {method::FeedthroughTreatment::Delay, "delay"},
       {method::FeedthroughTreatment::Refresh, "refresh"}}};
};

}  // namespace entrain

namespace entrain::method {

/// Which outputs are passed on late.
struct LateOutputOptions {
  std::vector<std::string> delayed;  ///< by "subsystem.output"; empty = all with feedthrough from a connected input

  void bind(OptionBinder& binder);
  void check(const Graph& graph, const WrittenOptions& written, std::vector<Problem>& problems) const;
  /// A subsystem that can neither be evaluated nor linearized keeps its outputs as its steps return them.
  std::vector<OutputId> outputs(const CoupledSystem& system) const;
  Fact note(const CoupledSystem& system) const;
};

/// Chosen outputs with feedthrough, passed on one step late: y(k+1) = g(x(k), u(k)) (docs/theory/learning.md). What is
/// passed on is then exact, only late, and a learned correction can make up for that; an output found with the inputs
/// of the step before has an error that cannot be seen.
///
/// g(x(k), u(k)) is evaluated where a subsystem has output_refresh. Else it is found from its linearization, as
/// g(x(k), u(k-1)) + D (u(k) - u(k-1)): exact when the output depends linearly on the inputs.
class LateOutputs {
 public:
  void start(const CoupledSystem& system, std::vector<OutputId> late);
  bool any() const { return !late_.empty(); }

  /// Inputs of the steps that start now are fixed, no step has been made yet. Needs `steps` for what starts and ends
  /// with this macro step.
  void before_steps(CoupledSystem& system, const ExplicitStepper& steps);
  /// The steps are made.
  void after_steps(CoupledSystem& system);

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
  void note_start_of_steps(CoupledSystem& system, const ExplicitStepper& steps);
  void add_linear_part(CoupledSystem& system);

  std::vector<OutputId> late_;
  std::vector<Source> sources_;
  Memory memory_;
  std::vector<double> first_values_;  // of all inputs, at the start of the steps under way
  std::vector<char> starts_, ends_;   // per subsystem: does a step start or end with this macro step?
  // Of the batch under way, kept so that a step allocates nothing.
  std::vector<SubsystemId> batch_;
  std::vector<const Source*> linear_;
  std::vector<Linearization> matrices_;
};

}  // namespace entrain::method
