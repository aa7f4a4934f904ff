// MISSILES (Eguillon, Lacabanne, Tromeur-Dervout, arXiv 2203.02441): tables 4 and 6, figures 6, 7, 9 to 11. Verified
// values: docs/theory/reproduction.md.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "description/system_file.hpp"
#include "reproduce/curves.hpp"
#include "reproduce/entry.hpp"
#include "reproduce/measure.hpp"

namespace entrain::reproducing {
namespace {

const Tolerance kPrintedDigits{5e-4, "the verified value is printed with four digits"};

const Tolerance kTwice{1.0, "at most twice the verified value, which is far below the printed one", Better::Smaller};
const Tolerance kAtMostTwice{1.0, "at most twice the verified value", Better::Smaller};
const Tolerance kNotVerified{1.0, "at most twice the printed value, which is not verified", Better::Smaller,
                             ReproduceReference::Printed};

const Tolerance kVerified{0.2, "near the verified value"};
const Tolerance kAtMostVerified{0.0, "restarted from the real outputs: at most the verified value", Better::Smaller};
const Tolerance kExactSlopes{0.0, "at most the verified value, whose slopes are difference quotients", Better::Smaller};
const Tolerance kOtherQuotients{0.5, "within a half: which quotients the verified values have is not stated"};
const Tolerance kRounding = bound("below what is asked for; what is left is mostly rounding");

/// A printed number and its verified reading, at one step size.
struct Case {
  double step;
  std::optional<double> paper;
  double reference;

  Printed printed(const std::string& column) const {
    if (!paper) return {};
    return {*paper, fmt::format("{}, {:g} s", column, step), Better::Smaller};
  }
};

/// Rows of one table: the error of a signal against the monolithic solution at the same times, which is found once per
/// step.
class ErrorRows {
 public:
  ErrorRows(Example example, std::string signal, std::string table)
      : example_(std::move(example)), signal_(std::move(signal)), table_(std::move(table)) {}

  void jacobi(const Case& of) {
    add(of, "NI-Jacobi", run_example(example_, "jacobi", of.step, {signal_}), kPrintedDigits, "NI-Jacobi");
  }
  /// IFOSMONDI-JFM. An error below the reference is as good: our predictor and restart do better at the same epsilon.
  void ifosmondi(const Case& of, double epsilon, const Tolerance& tolerance) {
    const auto column = fmt::format("IFOSMONDI, epsilon {:g}", epsilon);
    add(of, column,
        run_example(example_, "ifosmondi", of.step, {signal_}, {fmt::format("iteration_tolerance={:g}", epsilon)}),
        tolerance, column);
  }
  struct Variant {
    std::string what;
    std::vector<std::string> options;
    void (*take_away)(SubsystemDescription&) = [](SubsystemDescription&) {};
  };
  void missiles(const Case& of, const Variant& variant, const Tolerance& tolerance) {
    SystemDescription description = load_example(example_, "missiles", of.step);
    for (auto& subsystem : description.subsystems) variant.take_away(subsystem);
    add(of, "MISSILES, " + variant.what, run_system(std::move(description), {signal_}, variant.options), tolerance,
        "MISSILES");
  }
  std::vector<ReproduceRow> take() { return std::move(rows_); }

 private:
  void add(const Case& of, const std::string& method, const MemoryRecorder& run, const Tolerance& tolerance,
           const std::string& column) {
    auto& exact = exact_[of.step];
    if (exact.empty()) exact = run_example(example_, "monolithic", of.step, {signal_}).column(signal_);
    rows_.push_back(compared(fmt::format("{}, step {:g} s: error of {} in %", method, of.step, signal_),
                             of.printed(table_ + ", " + column), of.reference,
                             percent_error(run.column(signal_), exact), tolerance));
  }

  Example example_;
  std::string signal_;
  std::string table_;
  std::map<double, std::vector<double>> exact_;  // by step
  std::vector<ReproduceRow> rows_;
};

using Variant = ErrorRows::Variant;

const std::string kC1 = "restart=\"c1\"";
const Variant kAsItComes{"as it comes", {}};
// The paper's scheme, with f_C: strictly C1, linearized in every step, nothing remembered.
const std::vector<std::string> kPaperOptions{kC1, "start=\"plain\"", "reconstruction=0", "linearize=\"every-step\""};
const Variant kPaperScheme{"the paper's scheme with f_C", kPaperOptions};
const Variant kWithoutRest{"without f_C", kPaperOptions, [](SubsystemDescription& subsystem) {
                             subsystem.state_derivatives = {false, {}};
                           }};

Variant stehfest(int terms) {
  auto options = kPaperOptions;
  options.insert(options.end(), {"laplace=\"gaver-stehfest\"", fmt::format("stehfest_terms={}", terms)});
  return {fmt::format("Stehfest {}", terms), options};
}

/// With the slopes of (48) of the COSTARICA paper, as the paper computes them.
Variant quotients(int terms) {
  auto options = kPaperOptions;
  options.insert(options.end(), {"laplace=\"gaver-stehfest-quotients\"", fmt::format("stehfest_terms={}", terms)});
  return {fmt::format("Stehfest {}, 2Rich slopes", terms), options};
}

template <int Degree>
Variant limited() {
  return {fmt::format("inputs of degree {}", Degree), {}, [](SubsystemDescription& subsystem) {
            subsystem.input_degree = {Degree, {}};
          }};
}

std::vector<ReproduceRow> table4(const Examples& examples) {
  ErrorRows rows(examples / "mechanical", "left.x", "table 4");
  rows.jacobi({1e-3, 5.80, 5.801});
  rows.jacobi({1e-4, 0.293, 0.2933});
  rows.ifosmondi({1e-3, 2.66e-4, 8.0e-7}, 1e-5, kTwice);
  rows.ifosmondi({1e-4, 2.27e-5, 1.2e-7}, 1e-5, kTwice);
  rows.ifosmondi({1e-3, 7.55e-4, 4.12e-4}, 1e-2, kAtMostTwice);
  rows.ifosmondi({1e-4, 4.80e-5, 4.80e-5}, 1e-2, kNotVerified);
  rows.missiles({1e-3, 7.82e-3, 7.73e-7}, kPaperScheme, kVerified);
  rows.missiles({1e-3, 7.82e-3, 7.73e-7}, kAsItComes, kAtMostVerified);
  rows.missiles({1e-4, 1.34e-3, 1e-9}, kPaperScheme, kRounding);
  rows.missiles({1e-4, 1.34e-3, 1e-9}, kAsItComes, kRounding);
  rows.missiles({1e-3, 7.82e-3, 8.2e-4}, stehfest(8), kExactSlopes);
  rows.missiles({1e-3, 7.82e-3, 1.5e-6}, stehfest(14), kExactSlopes);
  rows.missiles({1e-3, 7.82e-3, 8.2e-4}, quotients(8), kOtherQuotients);
  rows.missiles({1e-3, 7.82e-3, 1.5e-6}, quotients(14), kOtherQuotients);
  rows.missiles({1e-4, 1.34e-3, 5.4e-5}, quotients(8), kOtherQuotients);
  rows.missiles({1e-4, 1.34e-3, 1.4e-7}, quotients(14), kOtherQuotients);
  rows.missiles({1e-3, std::nullopt, 1.1e-6}, limited<1>(), kVerified);
  rows.missiles({1e-3, std::nullopt, 1.1e-2}, limited<0>(), kVerified);
  auto all = rows.take();
  const auto start = run_example(examples / "mechanical", "jacobi", 1e-3, {"right.F"}).column("right.F").front();
  all.push_back(compared("force at the start in N", {20000.0, "table 3, initial coupling conditions, u_1"}, 20000.0,
                         start, {1e-12, "exact"}));
  return all;
}

std::vector<ReproduceRow> table6(const Examples& examples) {
  ErrorRows rows(examples / "lotka_volterra", "prey.p", "table 6");
  rows.jacobi({1e-3, 0.138, 0.1376});
  rows.jacobi({1e-4, 0.0138, 0.01372});
  rows.ifosmondi({1e-3, 2.62e-4, 3.6e-8}, 1e-5, kTwice);
  rows.ifosmondi({1e-4, 4.84e-5, 3.6e-11}, 1e-5, kTwice);
  rows.ifosmondi({1e-3, 2.62e-4, 2.19e-4}, 1e-2, kAtMostTwice);
  rows.ifosmondi({1e-4, 4.84e-4, 4.84e-4}, 1e-2, kNotVerified);
  rows.missiles({1e-3, 0.205, 0.2154}, kWithoutRest, kVerified);
  rows.missiles({1e-4, 0.0213, 0.02162}, kWithoutRest, kVerified);
  rows.missiles({1e-3, 0.205, 5.53e-9}, kPaperScheme, kVerified);
  rows.missiles({1e-3, 0.205, 5.53e-9}, kAsItComes, kAtMostVerified);
  rows.missiles({1e-4, 0.0213, 1e-9}, kPaperScheme, kRounding);
  rows.missiles({1e-4, 0.0213, 1e-9}, kAsItComes, kRounding);
  auto all = rows.take();
  const auto error = [&](double step) {
    for (const auto& row : all) {
      if (row.quantity == fmt::format("MISSILES, without f_C, step {:g} s: error of prey.p in %", step))
        return row.ours;
    }
    return 0.0;
  };
  all.push_back(compared("MISSILES, without f_C: error at 1e-3 s / error at 1e-4 s",
                         {10.0, "section 4.2, error decreased by a factor 10"}, 0.2154 / 0.02162,
                         error(1e-3) / error(1e-4), kVerified));
  return all;
}

/// The four columns of both tables, as `entrain run` makes them.
struct Column {
  std::string name, method;
  std::vector<std::string> options;
};
const std::vector<Column>& columns() {
  static const std::vector<Column> kColumns{
      {"NI-Jacobi", "jacobi", {}},
      {"IFOSMONDI, epsilon 1e-2", "ifosmondi", {"iteration_tolerance=1e-2"}},
      {"IFOSMONDI, epsilon 1e-5", "ifosmondi", {"iteration_tolerance=1e-5"}},
      {"MISSILES, the paper's scheme", "missiles", kPaperOptions},
      {"MISSILES, as it comes", "missiles", {}},
  };
  return kColumns;
}

struct Cost {
  double seconds = 1e300;
  double calls = 0.0;  // of the subsystems: steps, and trials by rollback
};
Cost cost_of(const Example& example, const Column& column, double step) {
  Cost cost;
  const int runs = step < 5e-4 ? 1 : 3;  // short runs vary more
  for (int k = 0; k < runs; ++k) {
    const auto run = run_changed(example, column.method,
                                 [&](SystemDescription& description) {
                                   description.step = {step, {}};
                                   for (const auto& option : column.options) apply_option(description, option);
                                 },
                                 {});
    cost.seconds = std::min(cost.seconds, run.summary.wall_seconds);
    cost.calls = 0.0;
    for (const auto& subsystem : run.summary.subsystems) {
      const bool estimates = column.method == "missiles";  // its trials call no subsystem
      cost.calls += static_cast<double>(subsystem.steps + (estimates ? 0 : subsystem.trials));
    }
  }
  return cost;
}

struct PaperTimes {
  double step;
  std::vector<double> seconds;  // by column
};

std::vector<ReproduceMeasurement> times(const Example& example, const std::vector<PaperTimes>& printed) {
  std::vector<ReproduceMeasurement> measured;
  for (const auto& paper : printed) {
    Cost jacobi;
    for (std::size_t k = 0; k < columns().size(); ++k) {
      const auto& column = columns()[k];
      const Cost cost = cost_of(example, column, paper.step);
      if (k == 0) {
        jacobi = cost;
        continue;
      }
      const double paper_ratio = paper.seconds[std::min(k, paper.seconds.size() - 1)] / paper.seconds[0];
      measured.push_back({fmt::format("{}, step {:g} s: time / that of NI-Jacobi", column.name, paper.step),
                          paper_ratio, cost.seconds / jacobi.seconds});
      measured.push_back(
          {fmt::format("{}, step {:g} s: calls of subsystems / those of NI-Jacobi", column.name, paper.step),
           std::nullopt, cost.calls / jacobi.calls});
    }
  }
  return measured;
}

std::vector<ReproduceMeasurement> times4(const Examples& examples) {
  return times(examples / "mechanical", {{1e-3, {0.26, 0.62, 0.95, 0.31}}, {1e-4, {1.80, 5.35, 7.48, 3.01}}});
}

std::vector<ReproduceMeasurement> times6(const Examples& examples) {
  return times(examples / "lotka_volterra", {{1e-3, {1.96, 3.26, 3.15, 2.75}}, {1e-4, {16.86, 24.33, 24.36, 25.72}}});
}

/// A table as a figure: the error of each column over the step, and the printed ones.
ReproduceFigure table_as_figure(const Example& example, const std::string& signal, const std::string& title,
                                const std::vector<std::vector<double>>& printed) {
  ReproduceFigure figure{title, {"step in s", true}, {"error of " + signal + " in %", true}, {}};
  const std::vector<double> steps{2e-3, 1e-3, 5e-4, 2e-4, 1e-4};
  std::map<double, std::vector<double>> exact;
  for (const double step : steps) exact[step] = run_example(example, "monolithic", step, {signal}).column(signal);
  for (std::size_t k = 0; k < columns().size(); ++k) {
    const auto& column = columns()[k];
    figure.curves.push_back(curve_of(column.name, steps, [&](double step) {
      const auto run = run_example(example, column.method, step, {signal}, column.options);
      return percent_error(run.column(signal), exact[step]);
    }));
    if (k < printed.size())
      figure.curves.push_back(printed_points("printed: " + column.name, {1e-3, 1e-4}, printed[k]));
  }
  return figure;
}

ReproduceFigure courses(const Example& example, double step, const std::string& signal, const std::string& title,
                        std::pair<double, double> span) {
  ReproduceFigure figure{title, {"time in s"}, {signal}, {}};
  figure.curves.push_back(
      course("monolithic", run_example(example, "monolithic", step, {signal}), signal, span.first, span.second));
  for (const std::size_t k : {0U, 2U, 3U}) {
    const auto& column = columns()[k];
    figure.curves.push_back(course(column.name, run_example(example, column.method, step, {signal}, column.options),
                                   signal, span.first, span.second));
  }
  return figure;
}

std::vector<ReproduceFigure> figures4(const Examples& examples) {
  const auto example = examples / "mechanical";
  return {table_as_figure(example, "left.x", "table 4: error of the left body's position",
                          {{5.80, 0.293}, {7.55e-4, 4.80e-5}, {2.66e-4, 2.27e-5}, {7.82e-3, 1.34e-3}}),
          courses(example, 1e-3, "left.x", "figure 6: the left body's position, step 1e-3 s", {0.0, 2.0}),
          courses(example, 1e-3, "left.x", "figure 7: the same, from 1.29 to 1.33 s", {1.29, 1.33})};
}

/// The orbit as pairs of prey and predators.
ReproduceCurve orbit(const std::string& name, const MemoryRecorder& run) {
  ReproduceCurve curve{name, ReproduceMark::Ours, {}, {}};
  const auto thin = std::max<std::size_t>(1, run.times.size() / 400);
  for (std::size_t k = 0; k < run.times.size(); k += thin) {
    curve.x.push_back(run.column("prey.p")[k]);
    curve.y.push_back(run.column("predator.P")[k]);
  }
  return curve;
}

std::vector<ReproduceFigure> figures6(const Examples& examples) {
  const auto example = examples / "lotka_volterra";
  const std::vector<std::string> both{"prey.p", "predator.P"};
  ReproduceFigure orbits{"figure 11: the orbit, step 0.01 s", {"prey"}, {"predators"}, {}};
  orbits.curves = {orbit("monolithic", run_example(example, "monolithic", 0.01, both)),
                   orbit("NI-Jacobi", run_example(example, "jacobi", 0.01, both)),
                   orbit("MISSILES, the paper's scheme", run_example(example, "missiles", 0.01, both, kPaperOptions)),
                   printed_points("printed: start", {1.0}, {1.0})};
  auto peak = courses(example, 1e-3, "prey.p", "figure 10: the same, from 14.3 to 14.7 s", {14.3, 14.7});
  auto without_rest = load_example(example, "missiles", 1e-3);
  for (auto& subsystem : without_rest.subsystems) kWithoutRest.take_away(subsystem);
  peak.curves.push_back(course("MISSILES, without f_C",
                               run_system(std::move(without_rest), {"prey.p"}, kWithoutRest.options), "prey.p", 14.3,
                               14.7));
  return {table_as_figure(example, "prey.p", "table 6: error of the prey",
                          {{0.138, 0.0138}, {2.62e-4, 4.84e-4}, {2.62e-4, 4.84e-5}, {0.205, 0.0213}}),
          courses(example, 1e-3, "prey.p", "figure 9: the prey, step 1e-3 s", {0.0, 20.0}), peak, orbits};
}

}  // namespace

std::vector<ReproduceEntry> missiles_entries() {
  return {{"missiles.table4", "linear mechanical pair: error of the left body's position", &table4, &figures4, &times4},
          {"missiles.table6", "Lotka-Volterra: error of the prey", &table6, &figures6, &times6}};
}

}  // namespace entrain::reproducing
