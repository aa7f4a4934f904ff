#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "analysis/linear_network.hpp"
#include "entrain/method_traits.hpp"
#include "methods/calendar.hpp"
#include "methods/linear_stages.hpp"
#include "numerics/sparse_eigenvalues.hpp"

namespace entrain::analysis {

/// The length of z (StepProgram).
inline std::size_t vector_size(const LinearNetwork& network, int degree) {
  const auto samples = static_cast<std::size_t>(degree) + 1;
  return network.state_count() + network.outputs.size() + network.input_count() * samples;
}

/// One step of one subsystem under an input u = s^p, p = 0 .. degree, made as the engine makes it: in parts, and by
/// the best fit where the subsystem does not take the degree. Depends on neither sequence nor gains.
struct SubsystemStep {
  method::Rhythm rhythm;
  Matrix exponential;
  std::vector<Matrix> powers;  ///< [p]: the state at the end, from rest, by input
  std::vector<double> ends;    ///< [p]: the input as it ends the step
};
std::vector<SubsystemStep> subsystem_steps(const LinearNetwork& network, Duration macro_step, int degree);

/// The macro steps of a run with an explicit method as operations on z = [x; y; w]: states, outputs, and the samples
/// w of every input, newest first (Glumac and Kovacic 2019, (20)-(29); v = x because the integration is exact, and u
/// follows from w). Applied to the unit matrix it gives the step matrix, applied to a vector it is a run.
class StepProgram {
 public:
  /// The macro steps after `first`; kSteadyState = where the histories have their final length.
  static constexpr std::uint64_t kSteadyState = std::numeric_limits<std::uint64_t>::max();
  /// Over one cycle, after which every subsystem has communicated. Throws Error{InvalidSystem} when it is longer than
  /// kLongestCycle. `network` and `steps` are borrowed.
  StepProgram(const LinearNetwork& network, std::span<const SubsystemStep> steps, const CouplingChoice& choice,
              std::uint64_t first = kSteadyState);
  static constexpr std::uint64_t kLongestCycle = 10'000;

  std::size_t size() const { return size_; }
  std::uint64_t cycle() const { return cycle_; }  ///< in macro steps
  const CouplingChoice& choice() const { return choice_; }
  const LinearNetwork& network() const { return network_; }
  std::size_t outputs_at() const { return states_; }                            ///< where y begins in z
  std::size_t samples_at() const { return states_ + network_.outputs.size(); }  ///< where w begins in z
  std::size_t samples_per_input() const { return samples_; }

  /// z <- program z for several z at once: row r of z is rows[r * columns] .. Keep `scratch` between calls.
  void apply(std::span<double> rows, std::size_t columns, std::vector<double>& scratch) const;
  /// The step matrix, for large networks.
  numerics::SchurComplement sparse() const;
  /// The same without integration: one sweep of the fixed-point initialisation (30).
  void apply_without_integration(std::span<double> rows, std::size_t columns, std::vector<double>& scratch) const;
  /// Before, then after the step of subsystem `s` in a cycle of one macro step: the input and the effect of a change of
  /// that step (for the structured radius).
  void apply_around(std::size_t s, bool after, std::span<double> rows, std::size_t columns,
                    std::vector<double>& scratch) const;

  /// The inputs as they ended their steps, one row each, from z after the program.
  void input_ends(std::span<const double> rows, std::size_t columns, std::span<double> ends) const;

  /// Of every sample in w, in macro steps from the time of z: before the program and after it. NaN = not there yet.
  const std::vector<double>& ages_before() const { return ages_before_; }
  const std::vector<double>& ages_after() const { return ages_after_; }

 private:
  struct Transfer {
    std::size_t sample;  // row of the newest sample of the input
    std::size_t output;  // row of its source
    double factor;
    double gain;
    bool moves;  // the older samples move up; else the newest is replaced
  };
  struct Step {
    std::size_t subsystem;
    Matrix by_samples;        // what the samples of its inputs add to the state
    Matrix feedthrough;       // and to the outputs at the end
    std::vector<double> end;  // weights of the samples of each input in its end value
  };
  struct Operation {
    bool is_step;
    std::size_t index;  // into transfers_ or made_
  };
  class History;
  class SparseWriter;

  void lay_out();
  void record(std::uint64_t first);
  void add_transfers(std::size_t s, const std::vector<double>& reached, History& history);
  void add_step(std::size_t s, std::uint64_t from, const History& history);
  void transfer(const Transfer& operation, std::span<double> rows, std::size_t columns) const;
  void make_step(const Step& operation, std::span<double> rows, std::size_t columns, bool integrate,
                 std::vector<double>& scratch) const;
  void write(const Transfer& operation, SparseWriter& writer) const;
  void write(const Step& operation, SparseWriter& writer) const;
  void run(std::size_t begin, std::size_t end, std::span<double> rows, std::size_t columns, bool integrate,
           std::vector<double>& scratch) const;

  const LinearNetwork& network_;
  CouplingChoice choice_;
  std::size_t samples_ = 1;
  std::size_t states_ = 0;
  std::size_t size_ = 0;
  std::uint64_t cycle_ = 1;
  std::vector<std::size_t> first_state_, first_output_, first_input_;
  std::span<const SubsystemStep> steps_;
  std::vector<Transfer> transfers_;
  std::vector<Step> made_;
  std::vector<Operation> operations_;
  std::vector<double> ages_before_, ages_after_;
};

}  // namespace entrain::analysis
