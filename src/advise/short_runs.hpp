#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "entrain/advice.hpp"
#include "entrain/simulation.hpp"

namespace entrain::advising {

/// Real runs over the first part of a system's time: they measure what no matrix can forecast.
class ShortRuns {
 public:
  /// `description` is resolved; it, and `extensions`, are borrowed. Runs end `length` after the start, or at the stop.
  /// `ranges` of outputs over the whole run, by name: errors are relative to them; else to what the short run shows.
  /// `imposing`: subsystems with steps that no run refines, so that no reference shows the error of their outputs.
  ShortRuns(const SystemDescription& description, const Extensions& extensions, Duration length,
            std::map<std::string, double> ranges = {}, std::set<std::string> imposing = {});

  Duration length() const { return length_; }

  struct Cost {
    double calls = 0.0;         ///< of the subsystems, per simulated second: steps, rollbacks, linearizations
    double wall_seconds = 0.0;  ///< per simulated second
    std::string failure;        ///< why the run did not complete; then nothing else is known
  };
  /// Throws Error when the system cannot be run so.
  Cost cost(const MethodConfig& config, Duration step) const;

  /// What the others are measured against: this config with an eighth of `step`. False when it does not complete; then
  /// the reference stays as it was.
  bool refine(const MethodConfig& config, Duration step);
  /// What the last refinement of the reference changed, measured as `error` is.
  double doubt() const { return doubt_; }
  struct Outcome {
    double error = 0.0;  ///< rms over time of the worst output, relative to its range
    double calls = 0.0;  ///< as Cost::calls
    /// How far the inputs of `imposing` subsystems are from their sources, at worst, relative to the range: part of
    /// what a reference does not show.
    double defect = 0.0;
  };
  /// Against the reference; nullopt when the run did not complete or gave no number.
  std::optional<Outcome> error(const MethodConfig& config, Duration step) const;

 private:
  struct Recorded;
  Recorded run(const MethodConfig& config, Duration step) const;
  double distance(const Recorded& from) const;

  const SystemDescription& description_;
  const Extensions& extensions_;
  Duration length_;
  std::map<std::string, double> ranges_;
  std::set<std::string> imposing_;
  std::set<std::string> fed_;  // subsystems with connected inputs
  struct Output {
    std::string name;
    std::vector<Time> times;
    std::vector<double> values;
  };
  std::vector<Output> reference_;
  double doubt_ = 0.0;
};

}  // namespace entrain::advising
