#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advise/linearized_run.hpp"
#include "advise/look.hpp"
#include "advise/pilot.hpp"
#include "advise/recommendation.hpp"
#include "entrain/advice.hpp"
#include "session/prepare.hpp"

namespace entrain::advising {

/// The choice of `auto` with a larger budget, and everything around it that a reader of an advice asks for: what a
/// linearization shows of every method, how robust the choice is, what would allow a better one.
class Adviser {
 public:
  /// Throws Error with every problem of the system.
  Adviser(const SystemDescription& description, const AdviceSettings& settings, const Extensions& extensions);
  Advice advise();

 private:
  void note_options(const SystemDescription& written);
  /// Adds it, unless it is there.
  void remark(Fact fact);
  /// Adds the error as a fact with its text as `why`, unless an earlier remark has the same one.
  void remark_once(Fact failure);
  void remark_failure(FactCode code, const Error& error);
  void describe();
  /// A part of the work, with progress; what is interrupted is left out, with a remark.
  void do_part(const char* part, void (Adviser::*work)());
  void run_pilot_method();
  PilotSettings pilot_settings(const Candidate& candidate, Duration step) const;
  bool misses_the_motion(const Candidate& candidate, const Pilot& pilot, Duration step) const;
  void run_pilot_in_smaller_steps(const Candidate& candidate);
  void forecast();
  void forecast(Candidate& candidate);
  void search();
  void take(Recommendation found);
  void report_growth();
  void report_missing_step();
  void report_what_is_missing();
  void verify_choice();
  void add_measures();
  void study_parameters(const std::vector<std::size_t>& order);
  /// Of those with a step matrix: the choice first, then by their errors.
  std::vector<std::size_t> judged_order() const;

  LinearizedRun linearized_run() const { return {methods_, *pilot_.path, look_.sequence, advice_.step, interruption_}; }
  ConfigForecast forecast_of(const MethodConfig& config) const { return {methods_, config, look_.sequence}; }
  const MethodTraits& traits(const MethodConfig& of) const { return methods_.traits(of.method); }
  Duration whole_run() const { return advice_.stop - advice_.start; }

  AdviceSettings settings_;
  Interruption interruption_;
  Logging log_;
  const Extensions& extensions_;
  method::MethodRegistry methods_;
  session::Prepared prepared_;  // with a method that asks for nothing: to look at
  Look look_;
  Pilot pilot_;
  Advice advice_;
};

}  // namespace entrain::advising
