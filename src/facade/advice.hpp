#pragma once

#include <optional>
#include <string>
#include <vector>

#include "entrain/simulation.hpp"

namespace entrain {

/// One way to run a system.
struct Candidate {
  std::string method;
  int degree = 0;                      ///< of the explicit methods
  std::vector<std::string> obstacles;  ///< empty = it can run this system

  std::optional<double> radius;          ///< spectral radius per macro step
  bool stable = false;                   ///< nothing grows that does not grow by itself; meaningless without a radius
  std::optional<Duration> longest_step;  ///< up to which it is stable, as far as was searched
  std::optional<double> error;  ///< foretold: rms of the worst output relative to its range, at the step asked for
  std::optional<double>
      equal_cost_error;  ///< the same with the step at which it calls the subsystems as often as jacobi
  Duration equal_cost_step = 0.0;
  std::optional<double> probed_error;  ///< where nothing can be foretold: from short runs at h, h/2, h/4
  std::optional<double>
      calls_per_step;                  ///< of all subsystems together, per macro step: steps, rollbacks, linearizations
  std::optional<double> wall_seconds;  ///< per simulated second, in a brief run

  /// What it is chosen by: the smaller the better; nullopt = nothing is known.
  std::optional<double> merit() const;
  bool explicit_method() const;
};

struct Measured {
  std::size_t candidate = 0;
  double foretold = 0.0;  ///< over the part that was run
  double measured = 0.0;
};

/// Which method, which step, and why.
struct Advice {
  std::string system;
  Time start = 0.0;
  Time stop = 0.0;
  Duration step = 0.0;                    ///< as asked for, or the default
  std::vector<std::string> capabilities;  ///< a line for each subsystem
  std::vector<std::vector<std::string>> loops;
  std::optional<double> fastest_rate;  ///< largest |eigenvalue| of the coupled system, 1/s
  std::size_t operating_points = 0;    ///< 0 = no linear picture
  std::vector<Candidate> candidates;
  std::optional<std::size_t> choice;
  std::optional<Duration> recommended_step;
  std::string reason;                ///< of the choice, or of there being none
  std::vector<std::string> remarks;  ///< what limits the answer
  std::vector<std::string> missing;  ///< what would allow a better one
  std::vector<Measured> measured;    ///< when asked to verify
};

struct AdviceSettings {
  double tolerance = 1e-3;  ///< error that the recommended step is to keep, relative to the range of an output
  bool verify = false;
};

/// Throws Error with every problem of the system.
Advice advise(const SystemDescription& description, const AdviceSettings& settings = {},
              const ModelFactory& models = {});

/// The description with a method and a step of the advice in place of its own.
SystemDescription applied(const SystemDescription& description, const Advice& advice);

}  // namespace entrain
