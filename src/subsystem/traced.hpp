#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "entrain/subsystem.hpp"

namespace entrain::subsystem {

/// The calls of one subsystem with the input polynomials that they got, in bounded memory: where a run has more, every
/// second step is left out, then every fourth, ..., with the calls that were taken back before it.
class TracedCalls {
 public:
  enum class Kind : std::uint8_t {
    Step,
    Trial,
    Rejected
  };  ///< a trial was taken back: a later call began before its end
  struct Call {
    Kind kind = Kind::Step;
    Time from = 0.0;
    Time to = 0.0;  ///< reached
    int degree = 0;
    double seconds = 0.0;         ///< of the wall clock
    std::size_t coefficient = 0;  ///< the first one: order by order, each of all inputs
    std::uint64_t step = 0;       ///< how many steps went further before
  };

  explicit TracedCalls(std::size_t most_calls) : most_(most_calls) {}

  void add(const Subsystem::Step& step, const StepReport& report, double seconds);
  const std::vector<Call>& calls() const { return calls_; }
  /// Coefficient p of an input.
  double coefficient(const Call& call, int p, std::size_t input) const {
    return coefficients_[call.coefficient + static_cast<std::size_t>(p) * inputs_ + input];
  }
  /// One step in so many is kept.
  std::uint64_t stride() const { return stride_; }

 private:
  bool is_kept(std::uint64_t step) const { return (step & (stride_ - 1)) == 0; }
  void thin();

  std::size_t most_;
  std::size_t inputs_ = 0;
  std::vector<Call> calls_;
  std::vector<double> coefficients_;
  std::uint64_t stride_ = 1;  // a power of two
  std::uint64_t steps_ = 0;
  Time furthest_ = -kNever;  // that a call reached
};

/// The subsystem, with all its abilities but the short path of held inputs; its steps are added to `log`, which is
/// borrowed.
std::unique_ptr<Subsystem> traced(std::unique_ptr<Subsystem> inner, TracedCalls& log);

/// calls.csv: a row per call and input, in the order of the subsystems; one without input for a subsystem that has
/// none. Neither name nor variables may be gone.
std::string calls_csv(const std::vector<const Subsystem*>& subsystems, const std::vector<TracedCalls>& logs);

}  // namespace entrain::subsystem
