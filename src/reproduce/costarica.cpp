// COSTARICA (Eguillon, Lacabanne, Tromeur-Dervout, "COSTARICA estimator for rollback-less systems handling in iterative
// co-simulation algorithms"): one step, figures 9 to 11, and the tough case. Verified values:
// docs/theory/reproduction.md.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "coupling/engine.hpp"
#include "entrain/entrain.hpp"
#include "numerics/polynomial.hpp"
#include "numerics/propagators.hpp"
#include "reproduce/curves.hpp"
#include "reproduce/entry.hpp"
#include "reproduce/measure.hpp"
#include "reproduce/rational.hpp"
#include "session/prepare.hpp"
#include "trials/trials.hpp"

namespace entrain::reproducing {
namespace {

const Tolerance kDigits{2e-12, "the verified value is printed with twelve digits"};
const Tolerance kOrder{0.04, "an order measured from two step sizes"};

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
  const trials::Estimator& estimator() { return *trials_->estimator(SubsystemId{0}); }

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
  std::string figure;            ///< "figure 10"
  std::string table;             ///< "table 4"
  std::vector<double> stimulus;  ///< predators, as that table prints them
  double estimate, truth;        ///< after one step of 0.1 s
  double order;
  double constant;  ///< of the error of one step against its size

  bool modified() const { return order < 2.5; }
};
const PreyCase kClassical{"lotka_volterra.prey", "figure 10",    "table 4", {0.8, -0.16, -0.11008},
                          0.769971658949,        0.769949193190, 3.0,       -0.022360};
const PreyCase kModified{"lotka_volterra.modulated_prey",
                         "figure 11",
                         "table 5",
                         {0.8, -0.448, 0.5173559185},
                         0.808026273632,
                         0.803184661033,
                         2.0,
                         -0.50125};

/// The exact exponential makes the error of the linearization alone (figure 9 of the paper).
const trials::EstimatorOptions kIdeal{};

/// As the paper computes: Gaver and Stehfest, of which it does not print the number of terms.
trials::EstimatorOptions practical(int terms) {
  trials::EstimatorOptions options;
  options.laplace = trials::LaplaceInversion::GaverStehfestQuotients;
  options.stehfest_terms = terms;
  return options;
}

Alone prey(const Examples& examples, const PreyCase& of, const trials::EstimatorOptions& options) {
  return {one_subsystem(examples, of.model, {{"alpha", 0.67}, {"beta", 1.33}, {"p", 0.8}, {"u", 0.8}}), options};
}

/// Error of the third step: the reconstruction needs two points before.
double third_error(const Examples& examples, const PreyCase& of, Duration h) {
  trials::EstimatorOptions options;
  options.reconstruction = 2;
  auto alone = prey(examples, of, options);
  alone.step(of.stimulus, h);
  alone.step(of.stimulus, h);
  const auto third = alone.step(of.stimulus, h);
  return std::abs(third.estimate - third.truth);
}

double first_error(const Examples& examples, const PreyCase& of, Duration h,
                   const trials::EstimatorOptions& options = kIdeal) {
  const auto first = prey(examples, of, options).step(of.stimulus, h);
  return first.truth - first.estimate;
}

/// log2 of the errors at h and h / 2.
double first_order(const Examples& examples, const PreyCase& of, Duration h, const trials::EstimatorOptions& options) {
  return std::log2(std::abs(first_error(examples, of, h, options) / first_error(examples, of, h / 2, options)));
}

/// The predators that the paper feeds to the prey are a Taylor polynomial of the coupled solution. A predator that is
/// as modulated as the prey is one with negative rates.
std::vector<ReproduceRow> stimulus_rows(const PreyCase& of) {
  SystemDescription description;
  description.name = "preliminary simulation";
  description.stop = {0.05, {}};
  description.step = {0.01, {}};
  description.method = {"monolithic", {}};
  const auto add = [&](const char* name, const std::map<std::string, double>& start) {
    auto& subsystem = description.subsystems.emplace_back();
    subsystem.name = std::string(name);
    subsystem.model = of.model;
    for (const auto& [variable, value] : start) subsystem.start[variable] = {value, {}};
  };
  const auto connect = [&](const char* output, const char* input) {
    auto& connection = description.connections.emplace_back();
    connection.output = output;
    connection.input = input;
  };
  add("prey", {{"alpha", 0.67}, {"beta", 1.33}, {"p", 0.8}});
  add("predator", {{"alpha", -1.0}, {"beta", -1.0}, {"p", 0.8}});
  connect("prey.p", "predator.u");
  connect("predator.p", "prey.u");
  const auto run = run_system(std::move(description), {"predator.p"});
  std::vector<double> coefficients(run.times.size());
  numerics::interpolate(run.times, run.column("predator.p"), coefficients);
  const Tolerance digits{1e-6, "as printed; the polynomial through six points of a run is as exact", Better::Neither,
                         ReproduceReference::Printed};
  return {compared("predators, coefficient of t", {of.stimulus[1], of.table + ", stimulus, t"}, of.stimulus[1],
                   coefficients[1], digits),
          compared("predators, coefficient of t^2", {of.stimulus[2], of.table + ", stimulus, t^2"}, of.stimulus[2],
                   coefficients[2], digits)};
}

std::vector<ReproduceRow> one_step_rows(const Examples& examples, const PreyCase& of) {
  constexpr Duration kStep = 0.01;
  const auto first = prey(examples, of, kIdeal).step(of.stimulus, 0.1);
  const double constant = first_error(examples, of, 1e-3) / std::pow(1e-3, of.order);
  const double with_past = std::log2(third_error(examples, of, kStep) / third_error(examples, of, kStep / 2));
  auto rows = stimulus_rows(of);
  rows.push_back(compared("estimate after one step of 0.1 s", {}, of.estimate, first.estimate, kDigits));
  rows.push_back(compared("what the step really gives", {}, of.truth, first.truth, kDigits));
  rows.push_back(compared("order of one step, the linearization alone",
                          {of.order, of.modified() ? "figure 9, LV with time" : "figure 9, LV", Better::Larger},
                          of.order, first_order(examples, of, kStep, kIdeal), kOrder));
  rows.push_back(compared("order of one step, Stehfest 14, step 0.1 s",
                          {of.order, of.figure + ", order", Better::Larger}, of.order,
                          first_order(examples, of, 0.1, practical(14)), kOrder));
  rows.push_back(
      compared("error / step^order, step 1e-3 s", {}, of.constant, constant, {0.01, "its limit for small steps"}));
  rows.push_back(of.modified() ? compared("order of one step, reconstruction 2 (at least 3)", {}, 4.0, with_past,
                                          {0.25, "above 3"})
                               : compared("order of one step, reconstruction 2", {}, 4.0, with_past, kOrder));
  return rows;
}

std::vector<ReproduceRow> figure10(const Examples& examples) {
  return one_step_rows(examples, kClassical);
}
std::vector<ReproduceRow> figure11(const Examples& examples) {
  return one_step_rows(examples, kModified);
}

ReproduceFigure one_step_figure(const Examples& examples, const PreyCase& of, const std::string& title) {
  const auto steps = logspace(-4, 0, 25);
  const auto curve = [&](const std::string& name, const trials::EstimatorOptions& options) {
    return curve_of(name, steps, [&](double h) { return std::abs(first_error(examples, of, h, options)); });
  };
  ReproduceFigure figure{title, {"step in s", true}, {"error of one step", true}, {}};
  figure.curves = {curve("exact exponential", kIdeal), curve("Stehfest 8", practical(8)),
                   curve("Stehfest 14", practical(14))};
  figure.curves.push_back(order_guide(of.order, figure.curves.front()));
  return figure;
}

/// Figure 9 has both preys.
std::vector<ReproduceFigure> figures10(const Examples& examples) {
  const auto steps = logspace(-4, 0, 25);
  ReproduceFigure nine{"figure 9: error of the linearization", {"step in s", true}, {"error of one step", true}, {}};
  for (const auto* of : {&kClassical, &kModified}) {
    nine.curves.push_back(curve_of(of->modified() ? "LV with time" : "LV", steps,
                                   [&](double h) { return std::abs(first_error(examples, *of, h)); }));
    nine.curves.push_back(order_guide(of->order, nine.curves.back()));
  }
  return {nine, one_step_figure(examples, kClassical, "figure 10: error of one estimated step of the prey")};
}

std::vector<ReproduceFigure> figures11(const Examples& examples) {
  return {one_step_figure(examples, kModified, "figure 11: the same, hunted by the time of the day")};
}

Matrix matrix_of(std::size_t rows, std::size_t columns, std::vector<double> values) {
  Matrix matrix(rows, columns);
  matrix.values = std::move(values);
  return matrix;
}

Matrix product_of(const Matrix& a, const Matrix& b) {
  Matrix result(a.rows, b.cols);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t k = 0; k < a.cols; ++k) {
      for (std::size_t j = 0; j < b.cols; ++j) result(i, j) += a(i, k) * b(k, j);
    }
  }
  return result;
}

/// (48), (49): the difference quotient of the slopes; and rational functions instead of a solution at every node.
std::vector<ReproduceRow> numerics_of_the_paper(const Examples&) {
  const Matrix a = matrix_of(2, 2, {0.0, 1.0, -11e4 / 80.0, -50.0 / 80.0});  // the right mechanical body
  const Matrix c = matrix_of(1, 2, {1e4, 10.0});
  constexpr Duration kStep = 1e-2;
  const auto transform = [&](Duration t) { return numerics::propagators_by_exponential(a, c, t, 1)[0](0, 1); };
  const auto derivative = [&](int order) {  // of C e^(A t) by t: C e^(A t) A, ...
    Matrix row = numerics::propagators_by_exponential(a, c, kStep, 1)[0];
    for (int k = 0; k < order; ++k) row = product_of(row, a);
    return row(0, 1);
  };
  const auto missed = [&](Duration r) {
    return (transform(kStep - r) - 4.0 * transform(kStep - 0.5 * r) + 3.0 * transform(kStep)) / r - derivative(1);
  };
  const double r = 0.02 * kStep;
  const Tolerance asymptotic{0.02, "its limit for small h"};
  return {compared("2Rich slope of P: order in h", {2.0, "(49), order", Better::Larger}, 2.0,
                   std::log2(missed(r) / missed(r / 2)), asymptotic),
          compared("2Rich slope of P: -error / h^2, by the third derivative", {1.0 / 12.0, "(49), 1/12"}, 1.0 / 12.0,
                   -missed(r) / (r * r * derivative(3)), asymptotic),
          compared("P by rational functions as Misra and Patel find them, against a solution at every node", {}, 1e-12,
                   worst_rational_difference(a, c, kStep), bound("rounding"))};
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
  const auto& estimator = alone.estimator();
  return {compared("P_V", {1.0, "(87), P_V"}, 1.0, estimator.propagator(0)[0], rounding),
          compared("R_V / step", {1.0, "(87), R_V"}, 1.0, estimator.propagator(1)[0] / 0.1, rounding),
          compared("estimate against first-order hold x + dt a + b, (90)", {}, x[0] + 0.1 * dx[0] + b, next.estimate,
                   rounding),
          compared("estimated slope against a", {}, dx[0], next.slope, rounding)};
}

}  // namespace

std::vector<ReproduceEntry> costarica_entries() {
  return {{"costarica.fig10", "one estimated step of the prey", &figure10, &figures10},
          {"costarica.fig11", "one estimated step of the prey hunted by the time of the day", &figure11, &figures11},
          {"costarica.numerics", "difference quotients (48), (49) and rational functions", &numerics_of_the_paper},
          {"costarica.tough", "terms that depend on the time alone", &tough}};
}

}  // namespace entrain::reproducing
