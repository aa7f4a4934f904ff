#pragma once

#include <array>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coupling/coupled_parts.hpp"
#include "trials/trials.hpp"

namespace entrain {

/// What trials by rollback remember of a subsystem.
struct Trials::ByRollback {
  ByRollback(std::size_t inputs, std::size_t outputs, std::size_t states)
      : outputs_before(outputs),
        input_before(inputs),
        tried((kMaxInputDegree + 1) * inputs),
        input_after(inputs),
        tried_outputs(outputs),
        dx(states) {
    past.values.resize(PastOutputs::kMost * outputs);
  }

  std::optional<StateId> saved;
  bool moved = false;                                // a trial has left the saved state
  std::optional<Time> stopped_at;                    // and asked to end the run there
  std::string refusal;                               // why it was rejected; empty if it was not
  std::vector<double> outputs_before, input_before;  // at the start of the step
  std::vector<double> tried, input_after;            // polynomials of the last trial; inputs as it ended
  std::vector<double> tried_outputs;
  Duration tried_size = 0.0;
  int tried_degree = 0;
  Linearization here;  // at the start of the step
  std::vector<double> dx;
  bool slopes_from_outputs = false;  // for want of anything better
  PastOutputs past;
};

/// One subsystem's part of the trials: by estimates or by rollback. Every step reads it for everyone, several times:
/// what estimates need of it lies in one cache line.
struct alignas(64) Trials::Own {
  CoupledSystem::Parts::Participant* participant = nullptr;
  std::unique_ptr<Estimator> estimator;
  std::span<double> input_slopes;   // in input_slopes_
  bool corrects_lowered = false;    // outputs are brought to the end values of inputs of a lower degree ...
  bool renews_feedthrough = false;  // ... by the D of an estimator, which must be up to date then
  Facets facets;
  SubsystemId id;
  std::unique_ptr<ByRollback> rollback;
  // Where inputs of a lower degree are given; else empty.
  std::vector<double> gap;  // end of the polynomial - what the subsystem held there
  std::vector<double> slope_gap;
  std::exception_ptr failure;

  std::size_t inputs() const { return participant->input_end.size(); }
  std::size_t outputs() const { return participant->outputs.size(); }
};

}  // namespace entrain
