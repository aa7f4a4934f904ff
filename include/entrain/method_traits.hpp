#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "entrain/export.hpp"
#include "entrain/linear_network.hpp"
#include "entrain/subsystem.hpp"

namespace entrain {

enum class MethodFamily {
  Explicit,      ///< one step of each subsystem per macro step, inputs from the past
  Implicit,      ///< inputs agree with the outputs at the end of the macro step
  Asynchronous,  ///< each subsystem has steps of its own
  Reference,     ///< no coupling: the equations of all subsystems in one integrator
};
ENTRAIN_API std::string_view to_string(MethodFamily family);

/// A method with those of its options that decide on the quality of a coupling.
struct ENTRAIN_API MethodConfig {
  std::string method;
  std::optional<int> degree;            ///< of the extrapolated inputs; nullopt = the method has no such option
  std::vector<std::string> sequence;    ///< the calling sequence; empty = as the method finds it
  std::map<std::string, double> gains;  ///< by "subsystem.input"; left out = 0

  /// "nepce of degree 1, first b, then a, gains a.u 0.25".
  std::string title() const;
  bool operator==(const MethodConfig&) const = default;
};

/// The order of the calls in an explicit macro step, and how inputs are continued: what the step matrix follows from
/// (Glumac and Kovacic, "Relative Consistency and Robust Stability Measures for Sequential Co-simulation";
/// docs/theory/quality.md).
struct CouplingChoice {
  /// Called one stage after the other; the subsystems of a stage step at once, with inputs from before the stage.
  std::vector<std::vector<std::size_t>> stages;
  int degree = 0;
  std::vector<double> gains = {};  ///< per input of the network: w <- gain w + (1 - gain) y; empty = none
  Duration step = 0.0;             ///< macro step
  bool constant_start = false;     ///< as `start = "constant"`: matters for the first macro steps only
};

/// Where an implicit method with Hermite inputs has the end of a step from. It matters only for subsystems that take a
/// lower degree than the polynomials have.
enum class StepEnd {
  Estimate,  ///< from linearizations, under the whole polynomials; what is handed over is the best fit
  Trial,     ///< from steps under what is handed over
};

/// The macro step of a method on a linear network, from which stability and errors are forecast. At most one of the
/// three forms is given; without any, the method is judged by short runs alone.
struct LinearMacroStep {
  /// Explicit methods that extrapolate inputs through their latest samples. `found`: the sequence where the
  /// configuration names none. Stability and error are forecast, and searches may vary it.
  std::function<CouplingChoice(const MethodConfig& config, const LinearNetwork& network,
                               std::span<const std::size_t> found, Duration step)>
      stages = {};
  /// Implicit methods whose inputs are cubic Hermite polynomials. Stability and error are forecast.
  std::optional<StepEnd> hermite = {};
  /// Any other method: z after a macro step = matrix * z before, where z begins with the states. Stability is forecast,
  /// errors are measured in short runs.
  std::function<Matrix(const MethodConfig& config, const LinearNetwork& network, Duration step)> matrix = {};

  bool known() const { return stages || hermite || matrix; }
};

/// The options of a method that an adviser may set, by their names; empty = the method has no such option.
struct MethodKnobs {
  std::string degree = {};  ///< of the extrapolated inputs, an integer
  int max_degree = 0;
  std::string sequence = {};  ///< the calling sequence, a list of names
  std::string gains = {};     ///< of inputs, a table of numbers from 0 to max_gain
  double max_gain = 0.0;
  std::vector<std::string> tolerances = {};  ///< that decide on the steps where the method adapts them
};

/// What a method is, declared once, beside the method. Everything that chooses, compares or explains methods reads
/// this.
struct MethodTraits {
  std::string name;
  std::string summary;  ///< one line
  MethodFamily family = MethodFamily::Explicit;
  /// Of the error in the macro step, for smooth systems whose subsystems have every capability; where there is a degree
  /// knob, with degree 0: each degree adds one.
  int order = 1;
  double calls_per_step = 1.0;   ///< of each subsystem in a macro step, trials included; typical
  bool iterates = false;         ///< trials are repeated until the inputs agree
  bool recommended = true;       ///< the adviser may propose it as it is, without values for its gains
  bool learnable = false;        ///< `learn` can correct its inputs, macro step by macro step
  bool patent_declared = false;  ///< its authors declare a pending patent (see NOTICE)
  MethodKnobs knobs = {};
  LinearMacroStep linear_step = {};

  int order_of(const MethodConfig& config) const { return order + config.degree.value_or(0); }
};

}  // namespace entrain
