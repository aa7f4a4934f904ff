// Paper 000: COSTARICA, figures 10, 11, 17, 22 and the tough case. Verified values: docs/theory/reproduction.md.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "coupling/engine.hpp"
#include "entrain/entrain.hpp"
#include "reproduce/entry.hpp"
#include "reproduce/measure.hpp"
#include "session/prepare.hpp"
#include "trials/trials.hpp"

namespace entrain::reproducing {
namespace {

const Tolerance kDigits{2e-12, "the verified value is printed with twelve digits"};
const Tolerance kOrder{0.04, "an order measured from two step sizes"};

/// With the FMUs of the models if they are to be used.
SystemDescription as_asked(SystemDescription description, const Examples& examples) {
  return !examples.fmus.used() ? std::move(description) : with_fmus(std::move(description), examples.fmus);
}

SystemDescription one_subsystem(const Examples& examples, const std::string& model,
                                const std::map<std::string, double>& start) {
  SystemDescription description;
  description.name = model;
  description.stop = {10.0, {}};
  description.step = {0.1, {}};
  description.method = {"jacobi", {}};
  auto& subsystem = description.subsystems.emplace_back();
  subsystem.name = std::string("s");
  subsystem.model = model;
  for (const auto& [name, value] : start) subsystem.start[name] = {value, {}};
  return as_asked(std::move(description), examples);
}

/// A subsystem by itself, stepped and estimated under inputs given as polynomials of the time.
class Alone {
 public:
  Alone(const SystemDescription& description, const trials::EstimatorOptions& options) {
    std::vector<Problem> problems;
    prepared_ = session::prepare(description, 1, {}, problems);
    if (!prepared_.system) throw Error(problems);
    prepared_.system->engine().initialize(0.0, prepared_.settings.stop);
    trials_.emplace(*prepared_.system, std::vector{coupling::TrialKind::Costarica}, options);
    block_ = trials_->make_block();
  }

  struct Outcome {
    double estimate, slope, truth;
  };
  /// One step: what was estimated, and what came. `stimulus`: coefficients by powers of the time.
  Outcome step(const std::vector<double>& stimulus, Duration h) {
    const int degree = static_cast<int>(stimulus.size()) - 1;
    write(stimulus, degree);
    const StepTask task{SubsystemId{0}, t_, h, std::max(degree, 0), 1, t_ + h};
    trials_->begin(t_, h, block_.slopes);
    trials_->run({&task, 1}, block_);
    Outcome outcome{block_.signals[0], block_.slopes[0], 0.0};
    trials_->commit({&task, 1}, block_);
    outcome.truth = block_.signals[0];
    t_ += h;
    return outcome;
  }
  CoupledSystem& system() { return *prepared_.system; }

 private:
  /// Re-expanded about the start of the step; degree 2 at most.
  void write(const std::vector<double>& c, int degree) {
    if (degree < 0) return;
    auto& system = *prepared_.system;
    system.coefficients(SubsystemId{0}, degree, 0)[0] = c[0] + t_ * (c[1] + t_ * c[2]);
    system.coefficients(SubsystemId{0}, degree, 1)[0] = c[1] + 2.0 * t_ * c[2];
    system.coefficients(SubsystemId{0}, degree, 2)[0] = c[2];
  }

  session::Prepared prepared_;
  std::optional<trials::Trials> trials_;
  trials::TrialBlock block_;
  Time t_ = 0.0;
};

struct PreyCase {
  std::string model;
  std::vector<double> stimulus;  ///< predators, tables 4 and 5 of the paper
  double estimate, truth;        ///< after one step of 0.1 s
  double order;
  double constant;  ///< of the error of one step against its size
};

Alone prey(const Examples& examples, const PreyCase& of, int reconstruction) {
  trials::EstimatorOptions options;
  options.reconstruction = reconstruction;
  return {one_subsystem(examples, of.model, {{"alpha", 0.67}, {"beta", 1.33}, {"p", 0.8}, {"u", 0.8}}), options};
}

/// Error of the third step: the reconstruction needs two points before.
double third_error(const Examples& examples, const PreyCase& of, Duration h, int reconstruction) {
  auto alone = prey(examples, of, reconstruction);
  alone.step(of.stimulus, h);
  alone.step(of.stimulus, h);
  const auto third = alone.step(of.stimulus, h);
  return std::abs(third.estimate - third.truth);
}

double first_error(const Examples& examples, const PreyCase& of, Duration h) {
  const auto first = prey(examples, of, 0).step(of.stimulus, h);
  return first.truth - first.estimate;
}

std::vector<ReproduceRow> one_step_rows(const Examples& examples, const PreyCase& of) {
  constexpr Duration kStep = 0.01;
  const auto first = prey(examples, of, 0).step(of.stimulus, 0.1);
  const double order = std::log2(first_error(examples, of, kStep) / first_error(examples, of, kStep / 2));
  const double constant = first_error(examples, of, 1e-3) / std::pow(1e-3, of.order);
  const double with_past = std::log2(third_error(examples, of, kStep, 2) / third_error(examples, of, kStep / 2, 2));
  const bool depends_on_time = of.order < 2.5;
  return {compared("estimate after one step of 0.1 s", {}, of.estimate, first.estimate, kDigits),
          compared("what the step really gives", {}, of.truth, first.truth, kDigits),
          compared("order of one step", of.order, of.order, order, kOrder, Better::Larger),
          compared("error / step^order, step 1e-3 s", {}, of.constant, constant, {0.01, "its limit for small steps"}),
          depends_on_time
              ? compared("order of one step, reconstruction 2 (at least 3)", {}, 4.0, with_past, {0.25, "above 3"})
              : compared("order of one step, reconstruction 2", {}, 4.0, with_past, kOrder)};
}

std::vector<ReproduceRow> figure10(const Examples& examples) {
  return one_step_rows(examples,
                       {"lotka_volterra.prey", {0.8, -0.16, -0.11008}, 0.769971658949, 0.769949193190, 3.0, -0.022360});
}

std::vector<ReproduceRow> figure11(const Examples& examples) {
  return one_step_rows(
      examples,
      {"lotka_volterra.modulated_prey", {0.8, -0.448, 0.5173559185}, 0.808026273632, 0.803184661033, 2.0, -0.50125});
}

/// rms error of a signal at the communication times that both runs have.
double error_at_common_times(const MemoryRecorder& run, const MemoryRecorder& exact, const std::string& signal) {
  double sum = 0.0;
  std::size_t count = 0;
  std::size_t k = 0;
  for (std::size_t i = 0; i < exact.times.size(); ++i) {
    while (k < run.times.size() && run.times[k] < exact.times[i]) ++k;
    if (k == run.times.size() || run.times[k] != exact.times[i]) continue;
    const double miss = run.column(signal)[k] - exact.column(signal)[i];
    sum += miss * miss;
    ++count;
  }
  return std::sqrt(sum / static_cast<double>(count));
}

double coupled_order(const Examples& examples, const SystemDescription& description, const std::string& signal,
                     Duration step) {
  const auto error = [&](Duration h) {
    auto with_step = description;
    with_step.step = {h, {}};
    with_step.method = {"monolithic", {}};
    const auto exact = run_system(with_step, {signal});
    with_step.method = {"ifosmondi", {}};
    const auto ours = run_system(as_asked(with_step, examples), {signal}, {"iteration_tolerance=1e-12"});
    return error_at_common_times(ours, exact, signal);
  };
  return std::log2(error(step) / error(step / 2));
}

SystemDescription with_trials(SystemDescription description, TrialChoice trials) {
  for (auto& subsystem : description.subsystems) subsystem.trials = {trials, {}};
  return description;
}

std::vector<ReproduceRow> figure17(const Examples& examples) {
  // Springs, dampers and start positions are not printed; these are the verified choice.
  auto description = load((examples / "two_mass").file);
  auto& left = description.subsystems[0].start;
  auto& right = description.subsystems[1].start;
  for (const auto* name : {"c1", "d1"}) left[name] = {name[0] == 'c' ? 1e4 : 1e3, {}};
  for (const auto* name : {"c2", "d2", "c3", "d3"}) right[name] = {name[0] == 'c' ? 1e4 : 1e3, {}};
  left["x"] = {1.0, {}};
  right["x2"] = {-0.5, {}};
  description.subsystems[1].events = {std::vector<double>{100.0}, {}};  // FMUs announce nothing
  std::vector<ReproduceRow> rows;
  for (const TrialChoice trials : {TrialChoice::Rollback, TrialChoice::Costarica}) {
    rows.push_back(compared(fmt::format("order of left.x, {}", to_word(trials)), 3.0, 4.0,
                            coupled_order(examples, with_trials(description, trials), "left.x", 0.1), kOrder,
                            Better::Larger));
  }
  return rows;
}

std::vector<ReproduceRow> figure22(const Examples& examples) {
  const auto description = load((examples / "lotka_volterra").file);
  auto no_rates = with_trials(description, TrialChoice::Costarica);
  for (auto& subsystem : no_rates.subsystems) subsystem.state_derivatives = {false, {}};
  return {compared("order of prey.p, rollback", {}, 4.0,
                   coupled_order(examples, with_trials(description, TrialChoice::Rollback), "prey.p", 0.05), kOrder),
          compared("order of prey.p, costarica", 2.0, 3.0,
                   coupled_order(examples, with_trials(description, TrialChoice::Costarica), "prey.p", 0.05), kOrder,
                   Better::Larger),
          compared("order of prey.p, costarica without f_C", {}, 1.0, coupled_order(examples, no_rates, "prey.p", 5e-3),
                   kOrder)};
}

std::vector<ReproduceRow> tough(const Examples& examples) {
  trials::EstimatorOptions options;
  options.control = trials::OutputControl::Hold;
  Alone alone(one_subsystem(examples, "tough", {}), options);
  alone.step({}, 0.3);
  std::vector<double> x(1);
  std::vector<double> dx(1);
  alone.system().read_states(x);
  alone.system().read_state_derivatives(dx);
  const double b = alone.system().outputs()[0] - x[0];
  const auto next = alone.step({}, 0.1);
  const Tolerance rounding{1e-15, "equal up to rounding"};
  return {compared("estimate against first-order hold x + dt a + b, (90)", {}, x[0] + 0.1 * dx[0] + b, next.estimate,
                   rounding),
          compared("estimated slope against a", {}, dx[0], next.slope, rounding)};
}

}  // namespace

std::vector<ReproduceEntry> costarica_entries() {
  return {{"costarica.fig10", "one estimated step of the prey", &figure10},
          {"costarica.fig11", "one estimated step of the prey hunted by the time of the day", &figure11},
          {"costarica.fig17", "two masses with a change: order with rollback and with estimates", &figure17},
          {"costarica.fig22", "Lotka-Volterra: order with rollback and with estimates", &figure22},
          {"costarica.tough", "terms that depend on the time alone", &tough}};
}

}  // namespace entrain::reproducing
