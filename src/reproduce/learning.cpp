// Paper 004: offline learning control, section 4. Verified values: docs/theory/reproduction.md.
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
#include "reproduce/entry.hpp"
#include "reproduce/measure.hpp"

namespace entrain::reproducing {
namespace {

const Tolerance kLearningDigits{1e-11, "the verified value is printed with twelve digits"};
const Tolerance kThreeDigits{5e-3, "the verified value is printed with three digits"};
const Tolerance kNearRounding{0.05, "the verified value; rounding shows in its second digit"};
const Tolerance kGamma{1e-7, "the verified value is printed with eight digits"};
const Tolerance kTuned{0.05, "at most what tuning of another form of the correction gave", true};
const Tolerance kDiscretisation{0.02, "the verified value is printed with two digits"};

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

const std::vector<std::string> kOscillatorMotion{"force_side.x1", "force_side.v1", "motion_side.x", "motion_side.v"};

/// One of the two examples of the paper's table 1, native or as FMUs.
class Oscillator {
 public:
  Oscillator(const Examples& examples, bool damped) : example_(examples / "learning"), damped_(damped) {
    reference_ = run(with(native(), {"feedthrough=refresh"}));
    reference_forces_ = reference_.column("force_side.F");
  }

  SystemDescription asked() const { return !example_.fmus.used() ? native() : with_fmus(native(), example_.fmus); }
  SystemDescription native() const {
    SystemDescription description = load(example_.file);
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

  /// Largest difference of the force that the motion side received to the same Euler steps taken for both masses at
  /// once. An input recorded at the end of a step is what it was during that step.
  double force_error(const MemoryRecorder& record) const { return force_error(record, reference_forces_); }
  static double force_error(const MemoryRecorder& record, const std::vector<double>& forces) {
    const auto& received = record.column("motion_side.F");
    double largest = 0.0;
    for (std::size_t k = 0; k + 1 < received.size(); ++k) {
      largest = std::max(largest, std::abs(received[k + 1] - forces[k]));
    }
    return largest;
  }
  double energy_error(const MemoryRecorder& record) const {
    const auto energies = mechanical_energy(record);
    const auto reference = mechanical_energy(reference_);
    double largest = 0.0;
    for (std::size_t k = 0; k < energies.size(); ++k) largest = std::max(largest, std::abs(energies[k] - reference[k]));
    return largest;
  }
  const MemoryRecorder& reference() const { return reference_; }

 private:
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
  MemoryRecorder reference_;
  std::vector<double> reference_forces_;
};

struct Learning {
  LearnResult result;
  LearnPlan plan;
};

Learning learned(const SystemDescription& description, int runs) {
  Learning learning;
  LearnOptions options;
  options.iterations = runs;
  options.tolerance = 0.0;
  learning.result = learn(description, options, {[&](const LearnPlan& plan) { learning.plan = plan; }, {}});
  return learning;
}

/// What the rows of an entry are compared with.
struct Verified {
  struct Norm {
    double value;
    Tolerance tolerance;
    std::optional<double> paper = {};
  };
  std::map<int, Norm> norms;  // by iteration
  double learned_force;
  double learned_energy;
  double delayed_force, delayed_energy;
  double held_force, held_energy;
  double held_learned_force;
};

/// The rows that both examples have.
std::vector<ReproduceRow> common_rows(const Oscillator& oscillator, const Learning& learning,
                                      const Verified& verified) {
  std::vector<ReproduceRow> rows;
  for (const auto& [iteration, norm] : verified.norms) {
    const auto& run = learning.result.iterations.at(static_cast<std::size_t>(iteration));
    rows.push_back(compared(fmt::format("2-norm of the error, iteration {} in N", iteration), norm.paper, norm.value,
                            run.connections.at(0).norm, norm.tolerance, Better::Smaller));
  }
  const auto& last = learning.result.iterations.size() - 1;
  const auto add = [&](const std::string& what, const MemoryRecorder& record, std::optional<double> paper, double force,
                       const Tolerance& tolerance) {
    rows.push_back(compared(what + ": largest error of the force in N", paper, force, oscillator.force_error(record),
                            tolerance, Better::Smaller));
  };
  const auto& result = learning.result.learned;
  const auto replay = Oscillator::run(with_learned(oscillator.asked(), result), &result);
  add(fmt::format("learned, iteration {}", last), replay, 1e-6, verified.learned_force, kNearRounding);
  rows.push_back(compared(fmt::format("learned, iteration {}: largest error of the mechanical energy in J", last), 1e-6,
                          verified.learned_energy, oscillator.energy_error(replay), kNearRounding, Better::Smaller));
  const auto delayed = Oscillator::run(Oscillator::with(oscillator.asked(), {"feedthrough=delay"}));
  add("delay, no correction", delayed, std::nullopt, verified.delayed_force, kThreeDigits);
  rows.push_back(compared("delay, no correction: largest error of the mechanical energy in J", std::nullopt,
                          verified.delayed_energy, oscillator.energy_error(delayed), kThreeDigits));
  const auto held = Oscillator::run(oscillator.asked());
  add("held input, no correction", held, std::nullopt, verified.held_force, kThreeDigits);
  rows.push_back(compared("held input, no correction: largest error of the mechanical energy in J", std::nullopt,
                          verified.held_energy, oscillator.energy_error(held), kThreeDigits));
  const auto on_held = learned(Oscillator::with(oscillator.asked(), {"feedthrough=hold"}), 13).result.learned;
  add("learned on held input (scenario b)", Oscillator::run(with_learned(oscillator.asked(), on_held), &on_held),
      std::nullopt, verified.held_learned_force, kThreeDigits);
  return rows;
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
  const Verified verified{.norms = {{0, {862.674010206, kLearningDigits}},
                                    {1, {346.615649301, kLearningDigits}},
                                    {2, {130.324463094, kLearningDigits}},
                                    {4, {8.80803445406, kLearningDigits}},
                                    {12, {4.95e-7, kThreeDigits}}},
                          .learned_force = 5.70e-8,
                          .learned_energy = 2.02e-7,
                          .delayed_force = 103.084,
                          .delayed_energy = 1437.07,
                          .held_force = 79.8312,
                          .held_energy = 1335.80,
                          .held_learned_force = 22.5794};
  for (auto& row : common_rows(oscillator, learning, verified)) rows.push_back(std::move(row));
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
  const Verified verified{.norms = {{12, {3.97e-6, kThreeDigits, 1e-7}}, {13, {3.2e-7, kDiscretisation}}},
                          .learned_force = 4.04e-8,
                          .learned_energy = 1.17e-6,
                          .delayed_force = 744.130,
                          .delayed_energy = 46789.3,
                          .held_force = 614.116,
                          .held_energy = 37884.6,
                          .held_learned_force = 111.818};
  for (auto& row : common_rows(oscillator, learning, verified)) rows.push_back(std::move(row));
  return rows;
}

}  // namespace

std::vector<ReproduceEntry> learning_entries() {
  return {{"learning.damped", "damped linear oscillator: what learning and other corrections leave", &damped},
          {"learning.undamped", "undamped linear oscillator: the same", &undamped}};
}

}  // namespace entrain::reproducing
