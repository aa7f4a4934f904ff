#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
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
#include "entrain/verdict.hpp"
#include "entrain/verification.hpp"

namespace entrain {

/// A parameter whose limits are asked for.
struct ParameterQuestion {
  std::string name;           ///< "subsystem.parameter"
  std::optional<double> low;  ///< with `high`: where to search; else from a hundredth to a hundred times its value
  std::optional<double> high;
};

/// What the adviser begins: a run to compare methods, or (`run` = 0) another part of its work.
struct AdviceProgress {
  std::string part;    ///< "a run to compare methods", "how stable every method is", ...
  std::string method;  ///< of a run, with its degree
  Duration step = 0.0;
  std::size_t run = 0;  ///< the first is 1
};

struct AdviceSettings {
  bool verify = false;                  ///< runs of what is recommended at h, h/2 and h/4, and their grade
  bool search = false;                  ///< sequences, gains, degrees and steps
  std::vector<std::string> gains = {};  ///< inputs that the search may give a gain; empty = all
  std::vector<ParameterQuestion> parameters = {};
  bool curves = false;  ///< and a heat map: for a page
  int threads = 1;      ///< of the search; the advice does not depend on them
  /// Set it (from a signal handler, another thread) to end the advice with what is known by then.
  const std::atomic<bool>* interrupt = nullptr;
  std::function<void(const AdviceProgress&)> progress = {};
};

/// What a run of a method showed.
struct TriedRun {
  Duration step = 0.0;
  Duration length = 0.0;  ///< from the start of the system's time
  bool whole = false;     ///< it covers all of it
  double error = 0.0;     ///< rms of the output that decides, relative to its range
  double bound = 0.0;     ///< of the error, as for a run (entrain/verdict.hpp)
};

/// One configuration to run a system, and what is known of it.
struct ENTRAIN_API Candidate : MethodConfig {
  std::vector<Fact> obstacles;  ///< empty = it can run this system

  std::optional<double> radius;   ///< spectral radius per macro step
  bool stable = false;            ///< nothing grows that does not grow by itself; meaningless without a radius
  bool harmless = false;          ///< what grows does not matter within the run; likewise
  bool steps_searched = false;    ///< else nothing is known of other steps
  StableRanges stable_steps;      ///< several when there are islands
  std::optional<double> error;    ///< forecast: rms of the worst output relative to its range, at the step asked for
  std::optional<TriedRun> tried;  ///< the last of its runs; nullopt = it was not looked at, or failed
  /// Of all subsystems together, per macro step: steps, rollbacks, linearizations.
  std::optional<double> calls_per_step;
  bool searched = false;  ///< it comes from a search, not from the methods' own defaults

  /// "stable", "as the motion", "grows slowly", "grows"; empty without a radius.
  std::string_view growth() const;
  /// The error as it was measured, else as it is forecast; nullopt = nothing is known.
  std::optional<double> known_error() const;
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

/// The measures of Glumac and Kovacic (2019) for one explicit config at the step asked for.
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
  std::optional<std::size_t> choice;
  std::optional<Duration> recommended_step;
  double calls = 0.0;                        ///< of subsystems, made for the answer: first run and trials
  std::vector<Fact> reasons;                 ///< of the choice, or of there being none
  std::vector<Fact> remarks;                 ///< what limits the answer
  std::vector<Fact> missing;                 ///< what would allow a better one
  std::optional<Verification> verification;  ///< when asked to verify
  std::optional<Grade> grade;                ///< of the verification
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
