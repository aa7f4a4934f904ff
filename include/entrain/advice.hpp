#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "entrain/export.hpp"
#include "entrain/extensions.hpp"
#include "entrain/fact.hpp"
#include "entrain/method_traits.hpp"
#include "entrain/quality.hpp"
#include "entrain/system_description.hpp"

namespace entrain {

/// A parameter whose limits are asked for.
struct ParameterQuestion {
  std::string name;           ///< "subsystem.parameter"
  std::optional<double> low;  ///< with `high`: where to search; else from a hundredth to a hundred times its value
  std::optional<double> high;
};

struct AdviceSettings {
  double tolerance = 1e-3;  ///< error that the recommended step is to keep, relative to the range of an output
  bool verify = false;      ///< run the best briefly
  bool search = false;      ///< sequences, gains, degrees and steps
  std::vector<std::string> gains = {};  ///< inputs that the search may give a gain; empty = all
  std::vector<ParameterQuestion> parameters = {};
  bool curves = false;  ///< and a heat map: for a page
  int threads = 1;      ///< of the search; the advice does not depend on them
};

/// One configuration to run a system, and what is known of it.
struct ENTRAIN_API Candidate : MethodConfig {
  std::vector<Fact> obstacles;  ///< empty = it can run this system

  std::optional<double> radius;  ///< spectral radius per macro step
  bool stable = false;           ///< nothing grows that does not grow by itself; meaningless without a radius
  bool harmless = false;         ///< what grows does not matter within the run; likewise
  bool steps_searched = false;   ///< else nothing is known of other steps
  StableRanges stable_steps;     ///< several when there are islands
  std::optional<double> error;   ///< forecast: rms of the worst output relative to its range, at the step asked for
  /// The same with the step at which it calls the subsystems as often as a method with one call per macro step.
  std::optional<double> equal_cost_error;
  Duration equal_cost_step = 0.0;
  std::optional<double> probed_error;  ///< from short runs at that step, its half and its quarter
  /// In these runs: of the inputs of subsystems with imposed steps, relative to the range of their sources.
  std::optional<double> probed_defect;
  /// Of all subsystems together, per macro step: steps, rollbacks, linearizations.
  std::optional<double> calls_per_step;
  std::optional<double> wall_seconds;  ///< per simulated second, in a brief run
  bool searched = false;               ///< it comes from a search, not from the methods' own defaults

  /// "stable", "as the motion", "grows slowly", "grows"; empty without a radius.
  std::string_view growth() const;
  /// What it is chosen by: the smaller the better; nullopt = nothing is known.
  std::optional<double> merit() const;
};

/// Two configs that cost the same, in real runs over the same time.
struct Match {
  std::size_t candidate = 0;  ///< the one without a forecast
  std::size_t rival = 0;      ///< the best of the others
  double error = 0.0;         ///< rms of the worst output relative to its range, against a refined run of the rival
  double rival_error = 0.0;
  Duration rival_step = 0.0;  ///< at which it calls the subsystems as often as the candidate
  double doubt = 0.0;         ///< what refining the reference once more changes
  Duration length = 0.0;      ///< of the runs, s

  /// Better beyond doubt.
  bool won() const { return error + doubt < rival_error; }
};

struct Measured {
  std::size_t candidate = 0;
  double forecast = 0.0;  ///< over the part that was run
  double measured = 0.0;
};

/// The best compromises of a search.
struct FrontPoint {
  MethodConfig config;
  Duration step = 0.0;
  Quality quality;
};
struct Front {
  std::vector<FrontPoint> points;  ///< by ascending step
  std::size_t knee = 0;            ///< the one that gives up least
  std::optional<Fact> how;         ///< by evolution or on a grid; nullopt = nothing was searched
  std::size_t judged = 0;          ///< couplings
  std::optional<Fact> left_out;    ///< what the size of the network did not allow
};

/// Where nothing else is asked for, parameters are looked at from a hundredth to a hundred times their value.
inline constexpr double kWidestFactor = 100.0;

/// How far a parameter can change before the coupling is unstable.
struct ParameterLimits {
  std::string name;    ///< "subsystem.parameter"
  double value = 0.0;  ///< as it is
  double low = 0.0;    ///< where was searched
  double high = 0.0;
  std::vector<StableRange> stable;
  std::string config = {};  ///< with this method
  Duration step = 0.0;      ///< at this macro step
};

/// The measures of paper 003 for one explicit config at the step asked for.
struct Robustness {
  std::size_t candidate = 0;
  std::optional<double> consistency;                    ///< relative consistency
  std::vector<std::pair<std::string, double>> margins;  ///< structured stability radius, by subsystem
  std::optional<Initialisation> initialisation;         ///< conditions (50), (51)
};

/// Radius and consistency over the step.
struct QualityCurve {
  MethodConfig config;
  std::vector<Duration> steps;
  std::vector<double> radius;
  std::vector<double> consistency;  ///< empty for implicit methods
};

/// The radius over two quantities.
struct HeatMap {
  struct Axis {
    std::string name;
    std::vector<double> values;
  };
  std::string config;
  Axis x, y;
  std::vector<std::vector<double>> radius;  ///< a row for each y; NaN where there is none
};

/// Which method, which step, and why.
struct ENTRAIN_API Advice {
  std::string system;
  Time start = 0.0;
  Time stop = 0.0;
  Duration step = 0.0;                    ///< as asked for, or the default
  std::vector<std::string> capabilities;  ///< a line for each kind of subsystem
  std::vector<std::vector<std::string>> loops;
  std::vector<std::string> sequence;   ///< that sequential methods are judged with, where a config names none
  std::optional<double> fastest_rate;  ///< largest |eigenvalue| of the coupled system, 1/s
  std::size_t operating_points = 0;    ///< 0 = nothing is linearized
  std::vector<Candidate> candidates;
  std::optional<Match> match;
  std::optional<std::size_t> choice;
  std::optional<Duration> recommended_step;
  std::vector<Fact> reasons;       ///< of the choice, or of there being none
  std::vector<Fact> remarks;       ///< what limits the answer
  std::vector<Fact> missing;       ///< what would allow a better one
  std::vector<Measured> measured;  ///< when asked to verify
  std::optional<Robustness> robustness;
  std::vector<ParameterLimits> parameters;  ///< those asked for, with the method that is recommended
  std::optional<double>
      joint_factor;            ///< by which any of them can change, up or down, before one combination is unstable
  std::optional<Front> front;  ///< when asked to search
  std::vector<QualityCurve> curves;  ///< when asked for
  std::optional<HeatMap> heat;       ///< when asked for

  /// The reasons in one sentence.
  std::string reason() const;
  /// The sequence in a sentence, of many subsystems its beginning; empty where there is but one.
  std::string sequence_judged() const;
};

/// Which method and which step suit a system, before it is run. Throws Error with every problem of the system, or for a
/// parameter or an input that it does not have.
ENTRAIN_API Advice advise(const SystemDescription& description, const AdviceSettings& settings = {},
                          const Extensions& extensions = {});

/// The description with a method and a step of the advice in place of its own. Throws Error when there is none.
ENTRAIN_API SystemDescription applied(const SystemDescription& description, const Advice& advice,
                                      const Extensions& extensions = {});

/// Everything an advice knows, as JSON.
ENTRAIN_API std::string advice_json(const Advice& advice);

/// The advice as a page, HTML in one file: what is recommended and why, radius and consistency over the step, the front
/// and the heat map as far as they are known. Throws Error{FileFailed}, also when reports are not included.
ENTRAIN_API void write_advice_page(const Advice& advice, const std::filesystem::path& file);

}  // namespace entrain
