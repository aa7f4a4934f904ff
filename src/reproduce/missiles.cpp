// Paper 001: MISSILES, tables 4 and 6. Verified values: docs/theory/reproduction.md.
#include <fmt/format.h>

#include "reproduce/entry.hpp"
#include "reproduce/measure.hpp"

namespace entrain {
namespace {

const Tolerance kPrintedDigits{5e-4, "the verified value is printed with four digits"};

struct Case {
  double step;
  double paper;
  double reference;
};

std::vector<ReproduceRow> jacobi_rows(const Example& file, const std::string& signal, const std::vector<Case>& cases) {
  std::vector<ReproduceRow> rows;
  for (const auto& [step, paper, reference] : cases) {
    const auto exact = run_example(file, "monolithic", step, {signal});
    const auto jacobi = run_example(file, "jacobi", step, {signal});
    rows.push_back(compared(fmt::format("NI-Jacobi, step {:g} s: error of {} in %", step, signal), paper, reference,
                            percent_error(jacobi.column(signal), exact.column(signal)), kPrintedDigits));
  }
  return rows;
}

std::vector<ReproduceRow> table4(const Examples& examples) {
  return jacobi_rows(examples / "mechanical", "left.x", {{1e-3, 5.80, 5.801}, {1e-4, 0.293, 0.2933}});
}

std::vector<ReproduceRow> table6(const Examples& examples) {
  return jacobi_rows(examples / "lotka_volterra", "prey.p", {{1e-3, 0.138, 0.1376}, {1e-4, 0.0138, 0.01372}});
}

}  // namespace

std::vector<ReproduceEntry> missiles_entries() {
  return {{"missiles.table4", "linear mechanical pair: error of the left body's position", &table4},
          {"missiles.table6", "Lotka-Volterra: error of the prey", &table6}};
}

}  // namespace entrain
