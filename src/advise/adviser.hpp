#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "advise/linearized_run.hpp"
#include "advise/pilot.hpp"
#include "advise/short_runs.hpp"
#include "entrain/advice.hpp"
#include "entrain/verification.hpp"
#include "session/prepare.hpp"

namespace entrain::advising {

/// Collects what can be known about the configs to run a system, then chooses.
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
  void remark_failure(FactCode code, const Error& error);
  bool is_remarked(std::string_view why) const;
  void describe();
  void run_pilot_method();
  bool misses_the_motion(const Candidate& candidate, const Pilot& pilot, Duration step) const;
  void run_pilot_in_smaller_steps(const Candidate& candidate);
  void forecast();
  void forecast(Candidate& candidate);
  void search();
  void measure_cost(Candidate& candidate);
  void report_brief_failures();
  bool all_forecast() const;
  void compare_at_equal_cost();
  Duration time_to_probe();
  void probe();
  void probe_those_below(double error);
  void match();
  std::vector<std::size_t> ranking() const;
  void choose();
  void take_match_into_account(const Candidate& best);
  std::size_t best_of_alike(const std::vector<std::size_t>& order) const;
  void choose_plainest(const Fact& why);
  void choose_undemanding();
  void choose_step();
  void choose_step_by_runs();
  void choose_at_smaller_steps();
  bool confirm(Duration step, std::optional<double> forecast);
  double worst_error(const Verification& of) const;
  std::optional<Measured> measured(std::size_t candidate) const;
  bool forecast_holds();
  void doubt_the_choice();
  void report_missing_step();
  void report_what_is_missing();
  void measure_the_best();
  void add_measures();

  LinearizedRun linearized_run() const { return {methods_, *pilot_.path, sequence_, advice_.step}; }
  ConfigForecast forecast_of(const MethodConfig& config) const { return {methods_, config, sequence_}; }
  const MethodTraits& traits(const MethodConfig& of) const { return methods_.traits(of.method); }
  bool has_own_steps(const MethodConfig& of) const { return traits(of).family == MethodFamily::Asynchronous; }

  Duration whole_run() const { return advice_.stop - advice_.start; }
  Duration longest_imposed_step() const;
  /// At least `steps` macro steps, and a whole number of every imposed step.
  Duration length_of(double steps) const;
  /// The forecast error, also between steps that fit.
  double error_at(const Candidate& candidate, Duration step) const;

  SystemDescription description_;
  AdviceSettings settings_;
  const Extensions& extensions_;
  method::MethodRegistry methods_;
  session::Prepared prepared_;  // with a method that asks for nothing: to look at
  std::vector<std::size_t> sequence_;
  std::vector<Duration> imposed_;
  std::set<std::string> imposing_;  // the subsystems that impose them
  Pilot pilot_;
  std::optional<ShortRuns> runs_;  // long enough to see something
  bool has_reference_ = false;
  bool has_events_ = false;                                         // a subsystem announces one within the run
  std::map<std::string, std::vector<std::string>> brief_failures_;  // titles by message
  Advice advice_;
};

}  // namespace entrain::advising
