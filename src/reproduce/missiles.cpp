// Paper 001: MISSILES, tables 4 and 6. Verified values: docs/theory/reproduction.md.
#include <fmt/format.h>

#include <map>
#include <utility>

#include "reproduce/entry.hpp"
#include "reproduce/measure.hpp"

namespace entrain {
namespace {

const Tolerance kPrintedDigits{5e-4, "the verified value is printed with four digits"};

const std::string kTwice = "at most twice the verified value, which is far below the printed one";
const std::string kInformation = "for information: the paper does not print it";

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
        run_example(example_, "ifosmondi", of.step, {signal_}, {fmt::format("epsilon={:g}", epsilon)}),
        {1.0, reason, true});
  }
  std::vector<ReproduceRow> take() { return std::move(rows_); }

 private:
  void add(const Case& of, const std::string& method, const MemoryRecorder& run, const Tolerance& tolerance) {
    auto& exact = exact_[of.step];
    if (exact.empty()) exact = run_example(example_, "monolithic", of.step, {signal_}).column(signal_);
    rows_.push_back(compared(fmt::format("{}, step {:g} s: error of {} in %", method, of.step, signal_), of.paper,
                             of.reference, percent_error(run.column(signal_), exact), tolerance));
  }

  Example example_;
  std::string signal_;
  std::map<double, std::vector<double>> exact_;  // by step
  std::vector<ReproduceRow> rows_;
};

std::vector<ReproduceRow> table4(const Examples& examples) {
  ErrorRows rows(examples / "mechanical", "left.x");
  rows.jacobi({1e-3, 5.80, 5.801});
  rows.jacobi({1e-4, 0.293, 0.2933});
  rows.ifosmondi({1e-3, 2.66e-4, 8.0e-7}, 1e-5, kTwice);
  rows.ifosmondi({1e-4, 2.27e-5, 1.2e-7}, 1e-5, kTwice);
  rows.ifosmondi({1e-3, std::nullopt, 4.12e-4}, 1e-2, kInformation);
  return rows.take();
}

std::vector<ReproduceRow> table6(const Examples& examples) {
  ErrorRows rows(examples / "lotka_volterra", "prey.p");
  rows.jacobi({1e-3, 0.138, 0.1376});
  rows.jacobi({1e-4, 0.0138, 0.01372});
  rows.ifosmondi({1e-3, 2.62e-4, 3.6e-8}, 1e-5, kTwice);
  rows.ifosmondi({1e-4, 4.84e-5, 3.6e-11}, 1e-5, kTwice);
  rows.ifosmondi({1e-3, std::nullopt, 2.19e-4}, 1e-2, kInformation);
  return rows.take();
}

}  // namespace

std::vector<ReproduceEntry> missiles_entries() {
  return {{"missiles.table4", "linear mechanical pair: error of the left body's position", &table4},
          {"missiles.table6", "Lotka-Volterra: error of the prey", &table6}};
}

}  // namespace entrain
