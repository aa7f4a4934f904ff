#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "entrain/error_estimate.hpp"
#include "entrain/system_description.hpp"
#include "entrain/verdict.hpp"
#include "truth/system.hpp"
#include "truth/truth.hpp"

namespace entrain::truth {

/// A method with its options, as a run gets it.
struct TriedMethod {
  std::string name;
  std::string method;
  std::map<std::string, OptionValue> options = {};
  bool quick = false;          ///< part of the short version
  std::string estimator = {};  ///< of all subsystems; empty = not written
};
const std::vector<TriedMethod>& tried_methods();

/// An output of a run. Errors are root mean squares over the time, relative to the range of the truth.
struct MeasuredOutput {
  std::string name;
  double truth = 0.0;   ///< true error, up to where the estimate holds
  double whole = 0.0;   ///< over the whole run
  double graded = 0.0;  ///< up to where the grade holds
  double range = 0.0;
  double floor = 0.0;  ///< of the integration inside the subsystems
  OutputError claimed = {};
};

struct MeasuredRun {
  enum class End { Completed, Failed, Refused };
  std::string system;
  std::string kind;
  std::string method;
  bool events = false;
  double step = 0.0;
  End end = End::Refused;
  std::string message;
  std::uint64_t macro_steps = 0;
  Verdict verdict;
  std::vector<MeasuredOutput> outputs;

  /// The largest true error of an output, up to where the grade holds; of an unreliable run over the whole of it.
  double worst_truth() const;
};

/// A run by itself, without an estimate.
struct BareRun {
  bool completed = false;
  double error = 0.0;       ///< of the worst output, as those of a MeasuredOutput
  std::uint64_t calls = 0;  ///< steps that subsystems made, those that were taken back included
  double seconds = 0.0;     ///< of the processor, in the run alone
  std::uint64_t macro_steps = 0;
  std::uint64_t iterations = 0;  ///< evaluations of an iterative method
  std::vector<Fact> notes;
  std::string message;
};

/// Runs one system with method after method; keeps the truth of the grids that it has seen.
class Measurement {
 public:
  explicit Measurement(const System& system);
  MeasuredRun run(const TriedMethod& tried, double step);
  BareRun run_bare(const TriedMethod& tried, double step);
  const System& system() const { return system_; }

 private:
  const Course& truth_at(const std::vector<double>& times);

  const System& system_;
  std::vector<double> floor_;
  std::vector<std::unique_ptr<Course>> known_;
};

}  // namespace entrain::truth
