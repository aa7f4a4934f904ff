// Paper 001: MISSILES, tables 4 and 6. Verified values: docs/theory/reproduction.md.
#include <fmt/format.h>

#include <map>
#include <utility>

#include "reproduce/entry.hpp"
#include "reproduce/measure.hpp"

namespace entrain::reproducing {
namespace {

const Tolerance kPrintedDigits{5e-4, "the verified value is printed with four digits"};

const std::string kTwice = "at most twice the verified value, which is far below the printed one";
const std::string kAtMostTwice = "at most twice the verified value";
const std::string kNotVerified = "at most twice the printed value, which is not verified";

const Tolerance kVerified{0.2, "near the verified value"};
const Tolerance kAtMostVerified{0.0, "restarted from the real outputs: at most the verified value", true};
const Tolerance kExactSlopes{0.0, "at most the verified value, whose slopes are difference quotients", true};
const Tolerance kRounding{0.0, "below what is asked for; what is left is mostly rounding", true};

/// A printed number and its verified reading, at one step size.
struct Case {
  double step;
  std::optional<double> paper;
  double reference;
};

/// Rows of one table: the error of a signal against the monolithic solution at the same times, which is found once per
/// step.
class ErrorRows {
 public:
  ErrorRows(Example example, std::string signal) : example_(std::move(example)), signal_(std::move(signal)) {}

  void jacobi(const Case& of) {
    add(of, "NI-Jacobi", run_example(example_, "jacobi", of.step, {signal_}), kPrintedDigits);
  }
  /// IFOSMONDI-JFM. An error below the reference is as good: our predictor and restart do better at the same epsilon.
  void ifosmondi(const Case& of, double epsilon, const std::string& reason) {
    add(of, fmt::format("IFOSMONDI, epsilon {:g}", epsilon),
        run_example(example_, "ifosmondi", of.step, {signal_}, {fmt::format("iteration_tolerance={:g}", epsilon)}),
        {1.0, reason, true});
  }
  struct Variant {
    std::string what;
    std::vector<std::string> options;
    void (*take_away)(SubsystemDescription&) = [](SubsystemDescription&) {};
  };
  void missiles(const Case& of, const Variant& variant, const Tolerance& tolerance) {
    SystemDescription description = load_example(example_, "missiles", of.step);
    for (auto& subsystem : description.subsystems) variant.take_away(subsystem);
    add(of, "MISSILES, " + variant.what, run_system(std::move(description), {signal_}, variant.options), tolerance);
  }
  std::vector<ReproduceRow> take() { return std::move(rows_); }

 private:
  void add(const Case& of, const std::string& method, const MemoryRecorder& run, const Tolerance& tolerance) {
    auto& exact = exact_[of.step];
    if (exact.empty()) exact = run_example(example_, "monolithic", of.step, {signal_}).column(signal_);
    rows_.push_back(compared(fmt::format("{}, step {:g} s: error of {} in %", method, of.step, signal_), of.paper,
                             of.reference, percent_error(run.column(signal_), exact), tolerance, Better::Smaller));
  }

  Example example_;
  std::string signal_;
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

template <int Degree>
Variant limited() {
  return {fmt::format("inputs of degree {}", Degree), {}, [](SubsystemDescription& subsystem) {
            subsystem.input_degree = {Degree, {}};
          }};
}

std::vector<ReproduceRow> table4(const Examples& examples) {
  ErrorRows rows(examples / "mechanical", "left.x");
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
  rows.missiles({1e-3, std::nullopt, 1.1e-6}, limited<1>(), kVerified);
  rows.missiles({1e-3, std::nullopt, 1.1e-2}, limited<0>(), kVerified);
  return rows.take();
}

std::vector<ReproduceRow> table6(const Examples& examples) {
  ErrorRows rows(examples / "lotka_volterra", "prey.p");
  rows.jacobi({1e-3, 0.138, 0.1376});
  rows.jacobi({1e-4, 0.0138, 0.01372});
  rows.ifosmondi({1e-3, 2.62e-4, 3.6e-8}, 1e-5, kTwice);
  rows.ifosmondi({1e-4, 4.84e-5, 3.6e-11}, 1e-5, kTwice);
  rows.ifosmondi({1e-3, 2.62e-4, 2.19e-4}, 1e-2, kAtMostTwice);
  rows.ifosmondi({1e-4, 4.84e-4, 4.84e-4}, 1e-2, kNotVerified);
  rows.missiles({1e-3, 0.205, 0.2154}, kWithoutRest, kVerified);
  rows.missiles({1e-4, 0.0213, 0.02162}, kWithoutRest, kVerified);
  rows.missiles({1e-3, std::nullopt, 5.53e-9}, kPaperScheme, kVerified);
  rows.missiles({1e-3, std::nullopt, 5.53e-9}, kAsItComes, kAtMostVerified);
  rows.missiles({1e-4, std::nullopt, 1e-9}, kPaperScheme, kRounding);
  rows.missiles({1e-4, std::nullopt, 1e-9}, kAsItComes, kRounding);
  return rows.take();
}

}  // namespace

std::vector<ReproduceEntry> missiles_entries() {
  return {{"missiles.table4", "linear mechanical pair: error of the left body's position", &table4},
          {"missiles.table6", "Lotka-Volterra: error of the prey", &table6}};
}

}  // namespace entrain::reproducing
