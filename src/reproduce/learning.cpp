// Thielemans, Gonzalez, Jacobs, Pastorino, Swevers, "Offline Learning Control to Improve the Accuracy of Real-time
// Explicit Co-simulation": section 4, figures 5 to 10. Verified values: docs/theory/reproduction.md.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "description/system_file.hpp"
#include "entrain/entrain.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/learning.hpp"
#include "reproduce/curves.hpp"
#include "reproduce/entry.hpp"
#include "reproduce/measure.hpp"

namespace entrain::reproducing {
namespace {

const Tolerance kLearningDigits{1e-11, "the verified value is printed with twelve digits"};
const Tolerance kThreeDigits{5e-3, "the verified value is printed with three digits"};
const Tolerance kNearRounding{0.05, "the verified value; rounding shows in its second digit"};
const Tolerance kGamma{1e-7, "the verified value is printed with eight digits"};
const Tolerance kTuned{0.05, "at most what tuning of another form of the correction gave", Better::Smaller};
const Tolerance kDiscretisation{0.02, "the verified value is printed with two digits"};

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

const std::vector<std::string> kOscillatorMotion{"force_side.x1", "force_side.v1", "motion_side.x", "motion_side.v"};

/// One of the two examples of the paper's table 1, native or as FMUs.
class Oscillator {
 public:
  /// `speed`: of both masses at the start, relative to that of the example; the paper prints none.
  Oscillator(const Examples& examples, bool damped, double speed = 1.0)
      : example_(examples / "learning"), damped_(damped), speed_(speed) {
    reference_ = run(with(native(), {"feedthrough=refresh"}));
    reference_forces_ = reference_.column("force_side.F");
  }

  SystemDescription asked() const { return !example_.fmus.used() ? native() : with_fmus(native(), example_.fmus); }
  SystemDescription native() const {
    SystemDescription description = load(example_.file);
    description.method = {"jacobi", {}};
    for (auto& subsystem : description.subsystems) {
      for (const char* velocity : {"v1", "v"}) {
        const auto found = subsystem.start.find(velocity);
        if (found != subsystem.start.end()) found->second.value = speed_ * std::get<double>(found->second.value);
      }
    }
    if (damped_) return description;
    for (auto& subsystem : description.subsystems) {
      for (const char* damper : {"d1", "d2", "d_k"}) {
        const auto found = subsystem.start.find(damper);
        if (found != subsystem.start.end()) found->second.value = 0.0;
      }
    }
    return description;
  }
  static SystemDescription with(SystemDescription description, const std::vector<std::string>& options) {
    for (const auto& option : options) apply_option(description, option);
    return description;
  }
  static MemoryRecorder run(const SystemDescription& description, const Learned* learned = nullptr) {
    Simulation simulation(description, {.learned = learned});
    std::vector<std::string> signals = kOscillatorMotion;
    signals.insert(signals.end(), {"force_side.F", "motion_side.F"});
    MemoryRecorder record(signals);
    simulation.observe(record);
    const auto& summary = simulation.run();
    if (summary.termination != Termination::Completed) {
      throw Error(ErrorCode::SubsystemFailed,
                  {FactCode::RunDidNotComplete, {"the oscillator"}, {{"why", summary.message}}});
    }
    return record;
  }

  /// Difference of the force that the motion side received to the same Euler steps taken for both masses at once. An
  /// input recorded at the end of a step is what it was during that step.
  std::vector<double> force_differences(const MemoryRecorder& record) const {
    return force_differences(record, reference_forces_);
  }
  static std::vector<double> force_differences(const MemoryRecorder& record, const std::vector<double>& forces) {
    const auto& received = record.column("motion_side.F");
    std::vector<double> differences;
    for (std::size_t k = 0; k + 1 < received.size(); ++k) differences.push_back(std::abs(received[k + 1] - forces[k]));
    return differences;
  }
  std::vector<double> energy_differences(const MemoryRecorder& record) const {
    auto energies = mechanical_energy(record);
    const auto reference = mechanical_energy(reference_);
    for (std::size_t k = 0; k < energies.size(); ++k) energies[k] = std::abs(energies[k] - reference[k]);
    return energies;
  }
  double force_error(const MemoryRecorder& record) const { return largest(force_differences(record)); }
  static double force_error(const MemoryRecorder& record, const std::vector<double>& forces) {
    return largest(force_differences(record, forces));
  }
  double energy_error(const MemoryRecorder& record) const { return largest(energy_differences(record)); }
  const MemoryRecorder& reference() const { return reference_; }

 private:
  static double largest(const std::vector<double>& values) { return *std::max_element(values.begin(), values.end()); }
  /// With the masses and springs of table 1.
  static std::vector<double> mechanical_energy(const MemoryRecorder& record) {
    const auto& x1 = record.column(kOscillatorMotion[0]);
    const auto& v1 = record.column(kOscillatorMotion[1]);
    const auto& x2 = record.column(kOscillatorMotion[2]);
    const auto& v2 = record.column(kOscillatorMotion[3]);
    std::vector<double> energy;
    for (std::size_t k = 0; k < x1.size(); ++k) {
      const double between = x1[k] - x2[k];
      energy.push_back(0.5 * (v1[k] * v1[k] + v2[k] * v2[k] + 10.0 * x1[k] * x1[k] + 1000.0 * x2[k] * x2[k] +
                              100.0 * between * between));
    }
    return energy;
  }

  Example example_;
  bool damped_;
  double speed_;
  MemoryRecorder reference_;
  std::vector<double> reference_forces_;
};

struct Learning {
  LearnResult result;
  LearnPlan plan;
};

/// `memory`: of LearnOptions; 0 is the paper's law.
Learning learned(const SystemDescription& description, int runs, int memory = 0) {
  Learning learning;
  LearnOptions options;
  options.inputs = LearnInputs::Held;
  options.iterations = runs;
  options.memory = memory;
  options.tolerance = 0.0;
  learning.result = learn(description, options, {[&](const LearnPlan& plan) { learning.plan = plan; }, {}});
  return learning;
}

constexpr int kPaperIteration = 12;  // that the paper looks at

/// What the rows of an entry are compared with.
struct Verified {
  std::string example;  ///< "damped"
  struct Norm {
    double value;
    Tolerance tolerance;
  };
  std::map<int, Norm> norms;  // by iteration
  double largest_at_paper_iteration;
  double learned_force;  // after that iteration
  double learned_energy;
  double delayed_force, delayed_energy;
  double held_force, held_energy;
  double held_learned_force;

  Printed printed(double value, const std::string& what) const {
    return {value, fmt::format("section 4, {}, {}", example, what), Better::Smaller};
  }
};

/// The rows that both examples have.
std::vector<ReproduceRow> common_rows(const Oscillator& oscillator, const Learning& learning,
                                      const Verified& verified) {
  std::vector<ReproduceRow> rows;
  for (const auto& [iteration, norm] : verified.norms) {
    const auto& run = learning.result.iterations.at(static_cast<std::size_t>(iteration));
    const Printed paper = iteration == kPaperIteration ? verified.printed(1e-7, "2-norm of the error") : Printed{};
    rows.push_back(compared(fmt::format("2-norm of the error, iteration {} in N", iteration), paper, norm.value,
                            run.connections.at(0).norm, norm.tolerance));
  }
  const auto& twelfth = learning.result.iterations.at(kPaperIteration);
  rows.push_back(compared("largest error, iteration 12 in N", verified.printed(1e-7, "error"),
                          verified.largest_at_paper_iteration, twelfth.connections.at(0).max_error, kNearRounding));
  const auto add = [&](const std::string& what, const MemoryRecorder& record, const Printed& paper, double force,
                       const Tolerance& tolerance) {
    rows.push_back(
        compared(what + ": largest error of the force in N", paper, force, oscillator.force_error(record), tolerance));
  };
  const auto result = learned(oscillator.asked(), kPaperIteration + 1).result.learned;
  const auto replay = Oscillator::run(with_learned(oscillator.asked(), result), &result);
  add("learned, iteration 12", replay, verified.printed(1e-6, "force"), verified.learned_force, kNearRounding);
  rows.push_back(compared("learned, iteration 12: largest error of the mechanical energy in J",
                          verified.printed(1e-6, "mechanical energy"), verified.learned_energy,
                          oscillator.energy_error(replay), kNearRounding));
  const auto delayed = Oscillator::run(Oscillator::with(oscillator.asked(), {"feedthrough=delay"}));
  add("delay, no correction", delayed, {}, verified.delayed_force, kThreeDigits);
  rows.push_back(compared("delay, no correction: largest error of the mechanical energy in J", {},
                          verified.delayed_energy, oscillator.energy_error(delayed), kThreeDigits));
  const auto held = Oscillator::run(oscillator.asked());
  add("held input, no correction", held, {}, verified.held_force, kThreeDigits);
  rows.push_back(compared("held input, no correction: largest error of the mechanical energy in J", {},
                          verified.held_energy, oscillator.energy_error(held), kThreeDigits));
  const auto on_held = learned(Oscillator::with(oscillator.asked(), {"feedthrough=hold"}), 13).result.learned;
  add("learned on held input (scenario b)", Oscillator::run(with_learned(oscillator.asked(), on_held), &on_held), {},
      verified.held_learned_force, kThreeDigits);
  return rows;
}

/// The printed numbers with a law that remembers four runs; the independent implementation leaves 1e-10 N.
std::vector<ReproduceRow> rows_with_memory(const Oscillator& oscillator, const Verified& verified) {
  const Tolerance at_most = bound("a tenth of what is printed");
  const auto learning = learned(oscillator.asked(), kPaperIteration + 1, 4);
  const auto& twelfth = learning.result.iterations.at(kPaperIteration).connections.at(0);
  const auto& result = learning.result.learned;
  const auto replay = Oscillator::run(with_learned(oscillator.asked(), result), &result);
  return {compared("memory 4: 2-norm of the error, iteration 12 in N", verified.printed(1e-7, "2-norm of the error"),
                   1e-8, twelfth.norm, at_most),
          compared("memory 4: largest error, iteration 12 in N", verified.printed(1e-7, "error"), 1e-8,
                   twelfth.max_error, at_most),
          compared("memory 4, learned: largest error of the force in N", verified.printed(1e-6, "force"), 1e-7,
                   oscillator.force_error(replay), at_most),
          compared("memory 4, learned: largest error of the mechanical energy in J",
                   verified.printed(1e-6, "mechanical energy"), 1e-7, oscillator.energy_error(replay), at_most)};
}

/// All errors in N and J follow the start, which the paper does not print.
ReproduceRow slower_start(const Examples& examples, bool damped, const Learning& learning) {
  const auto slower = learned(Oscillator(examples, damped, 0.1).asked(), kPaperIteration + 1);
  const auto norm = [](const Learning& of) { return of.result.iterations.at(kPaperIteration).connections.at(0).norm; };
  return compared("2-norm of the error, iteration 12: with a tenth of the speed at the start / with all of it", {}, 0.1,
                  norm(slower) / norm(learning), {0.05, "linear, but for rounding"});
}

std::vector<ReproduceRow> damped(const Examples& examples) {
  const Oscillator oscillator(examples, true);
  const auto learning = learned(oscillator.asked(), 13);
  const auto& reference = oscillator.reference();
  std::vector<ReproduceRow> rows;
  const auto at_end = [&](const std::string& what, const std::string& signal, double value) {
    rows.push_back(compared("both masses at once, t = 20 s: " + what, std::nullopt, value,
                            reference.column(signal).back(), kLearningDigits));
  };
  at_end("x1 in m", "force_side.x1", -1.26781033162);
  at_end("x2 in m", "motion_side.x", -0.261611793009);
  at_end("F in N", "force_side.F", -98.7298328637);
  rows.push_back(compared("gamma", std::nullopt, 0.98435493, learning.plan.gamma.value_or(kUnknown), kGamma));
  const Verified verified{.example = "damped",
                          .norms = {{0, {862.674010206, kLearningDigits}},
                                    {1, {346.615649301, kLearningDigits}},
                                    {2, {130.324463094, kLearningDigits}},
                                    {4, {8.80803445406, kLearningDigits}},
                                    {12, {4.95e-7, kThreeDigits}}},
                          .largest_at_paper_iteration = 2.326e-8,
                          .learned_force = 5.70e-8,
                          .learned_energy = 2.02e-7,
                          .delayed_force = 103.084,
                          .delayed_energy = 1437.07,
                          .held_force = 79.8312,
                          .held_energy = 1335.80,
                          .held_learned_force = 22.5794};
  for (auto& row : common_rows(oscillator, learning, verified)) rows.push_back(std::move(row));
  for (auto& row : rows_with_memory(oscillator, verified)) rows.push_back(std::move(row));
  rows.push_back(slower_start(examples, true, learning));
  rows.push_back(compared(
      "residual-power correction, gain 0.01: largest error of the force in N", std::nullopt, 22.0,
      oscillator.force_error(Oscillator::run(Oscillator::with(oscillator.asked(), {"energy_gain=0.01"}))), kTuned));
  SystemDescription exact = oscillator.native();
  exact.method = {"monolithic", {}};
  const auto& result = learning.result.learned;
  const auto replay = Oscillator::run(with_learned(oscillator.asked(), result), &result);
  rows.push_back(compared("learned, against the exact solution: largest difference of the force in N", std::nullopt,
                          5.6, Oscillator::force_error(replay, Oscillator::run(exact).column("force_side.F")),
                          kDiscretisation));
  return rows;
}

std::vector<ReproduceRow> undamped(const Examples& examples) {
  const Oscillator oscillator(examples, false);
  const auto learning = learned(oscillator.asked(), 14);
  std::vector<ReproduceRow> rows;
  rows.push_back(compared("spectral radius of the delayed loop", std::nullopt, 1.0000545,
                          learning.plan.radius.value_or(kUnknown), kGamma));
  const Verified verified{.example = "undamped",
                          .norms = {{12, {3.97e-6, kThreeDigits}}, {13, {3.2e-7, kDiscretisation}}},
                          .largest_at_paper_iteration = 2.065e-7,
                          .learned_force = 5.11e-7,
                          .learned_energy = 1.514e-5,
                          .delayed_force = 744.130,
                          .delayed_energy = 46789.3,
                          .held_force = 614.116,
                          .held_energy = 37884.6,
                          .held_learned_force = 111.818};
  for (auto& row : common_rows(oscillator, learning, verified)) rows.push_back(std::move(row));
  for (auto& row : rows_with_memory(oscillator, verified)) rows.push_back(std::move(row));
  rows.push_back(slower_start(examples, false, learning));
  const auto& result = learning.result.learned;
  const auto replay = Oscillator::run(with_learned(oscillator.asked(), result), &result);
  rows.push_back(compared("learned, iteration 13: largest error of the force in N", {}, 4.04e-8,
                          oscillator.force_error(replay), kNearRounding));
  rows.push_back(compared("learned, iteration 13: largest error of the mechanical energy in J", {}, 1.17e-6,
                          oscillator.energy_error(replay), kNearRounding));
  return rows;
}

/// What a learned input missed over time, in the last of so many runs.
ReproduceCurve missed_over_time(const Oscillator& oscillator, int iteration, int memory = 0) {
  const auto result = learned(oscillator.asked(), iteration + 1, memory).result;
  const LearnedCourse& course = iteration == 0 ? result.before.at(0) : result.after.at(0);
  std::vector<double> missed;
  for (std::size_t k = 0; k < course.times.size(); ++k)
    missed.push_back(std::abs(course.meant[k] - course.received[k]));
  return line(fmt::format("iteration {}{}", iteration, memory > 0 ? fmt::format(", memory {}", memory) : ""),
              course.times, missed);
}

/// Figures 5, 7 and 8, or 6, 9 and 10.
std::vector<ReproduceFigure> oscillator_figures(const Examples& examples, bool damped) {
  const Oscillator oscillator(examples, damped);
  const std::string which = damped ? "damped oscillator" : "undamped oscillator";
  ReproduceFigure errors{
      fmt::format("figure {}: error of the {}", damped ? 5 : 6, which), {"time in s"}, {"missed in N", true}, {}};
  for (const int iteration : {0, 1, kPaperIteration}) errors.curves.push_back(missed_over_time(oscillator, iteration));
  errors.curves.push_back(missed_over_time(oscillator, kPaperIteration, 4));
  errors.curves.push_back(guide("printed: 1e-7 N", {0.0, 20.0}, {1e-7, 1e-7}));
  ReproduceFigure forces{fmt::format("figure {}: force against both masses at once, {}", damped ? 7 : 9, which),
                         {"time in s"},
                         {"difference of the force in N", true},
                         {}};
  ReproduceFigure energies{
      fmt::format("figure {}: mechanical energy against both masses at once, {}", damped ? 8 : 10, which),
      {"time in s"},
      {"difference of the energy in J", true},
      {}};
  const auto add = [&](const std::string& name, const MemoryRecorder& record) {
    forces.curves.push_back(line(name, record.times, oscillator.force_differences(record)));
    energies.curves.push_back(line(name, record.times, oscillator.energy_differences(record)));
  };
  const auto on_delay = learned(oscillator.asked(), kPaperIteration + 1).result.learned;
  const auto on_held =
      learned(Oscillator::with(oscillator.asked(), {"feedthrough=hold"}), kPaperIteration + 1).result.learned;
  add("learned on the delay", Oscillator::run(with_learned(oscillator.asked(), on_delay), &on_delay));
  const auto with_memory = learned(oscillator.asked(), kPaperIteration + 1, 4).result.learned;
  add("learned on the delay, memory 4", Oscillator::run(with_learned(oscillator.asked(), with_memory), &with_memory));
  add("held input, no correction", Oscillator::run(oscillator.asked()));
  add("held input, residual power", Oscillator::run(Oscillator::with(oscillator.asked(), {"energy_gain=0.01"})));
  add("learned on held input", Oscillator::run(with_learned(oscillator.asked(), on_held), &on_held));
  for (auto* figure : {&forces, &energies}) {
    figure->curves.push_back(guide("printed: 1e-6", {0.0, 20.0}, {1e-6, 1e-6}));
  }
  return {errors, forces, energies};
}

std::vector<ReproduceFigure> damped_figures(const Examples& examples) {
  return oscillator_figures(examples, true);
}
std::vector<ReproduceFigure> undamped_figures(const Examples& examples) {
  return oscillator_figures(examples, false);
}

/// Largest error of the second position, relative to its range, of a run that was learned so; the subsystems integrate
/// exactly, and the truth is both masses as one set of equations.
double learned_error(const SystemDescription& exact, LearnInputs inputs, int runs) {
  LearnOptions options;
  options.inputs = inputs;
  options.iterations = runs;
  options.tolerance = 1e-12;
  const auto result = learn(exact, options).learned;
  SystemDescription one = exact;
  one.method = {"monolithic", {}};
  const auto truth = Oscillator::run(one).column("motion_side.x");
  const auto found = Oscillator::run(with_learned(exact, result), &result).column("motion_side.x");
  double largest = 0.0;
  for (std::size_t k = 0; k < truth.size(); ++k) largest = std::max(largest, std::abs(found[k] - truth[k]));
  const auto [low, high] = std::minmax_element(truth.begin(), truth.end());
  return largest / (*high - *low);
}

/// Past the paper: inputs that are learned as lines and cubics. Native models alone: FMUs integrate as they do.
std::vector<ReproduceRow> waveforms(const Examples& examples) {
  std::vector<ReproduceRow> rows;
  if (examples.fmus.used()) return rows;
  struct ByNumpy {
    double held, linear;
  };
  for (const bool damped : {true, false}) {
    SystemDescription exact = Oscillator(examples, damped).native();
    for (auto& subsystem : exact.subsystems) subsystem.start["integrator"] = {std::string("exact"), {}};
    const ByNumpy verified = damped ? ByNumpy{0.0494079, 2.29730e-4} : ByNumpy{0.327701, 1.304076e-3};
    const std::string of = damped ? "damped" : "undamped";
    const double held = learned_error(exact, LearnInputs::Held, 24);
    const double linear = learned_error(exact, LearnInputs::Linear, 30);
    const double hermite = learned_error(exact, LearnInputs::Hermite, 30);
    rows.push_back(compared(of + ", held: largest error of x2, of its range", {}, verified.held, held, kThreeDigits));
    rows.push_back(compared(of + ", linear: the same", {}, verified.linear, linear, kThreeDigits));
    rows.push_back(compared(of + ", linear: error relative to that of held inputs", {}, 1.0 / 50.0, linear / held,
                            bound("a fiftieth")));
    rows.push_back(compared(of + ", hermite: error relative to that of held inputs", {}, 1e-3, hermite / held,
                            bound("a thousandth")));
  }
  return rows;
}

}  // namespace

std::vector<ReproduceEntry> learning_entries() {
  return {{"learning.damped", "damped linear oscillator: what learning and other corrections leave", &damped,
           &damped_figures},
          {"learning.undamped", "undamped linear oscillator: the same", &undamped, &undamped_figures},
          {"learning.waveforms", "both oscillators, inputs learned as lines and cubics", &waveforms}};
}

}  // namespace entrain::reproducing
