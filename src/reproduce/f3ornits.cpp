// Paper 002: F3ORNITS, table 1. Parameters fitted and values verified: docs/theory/reproduction.md.
#include <fmt/format.h>

#include <cmath>

#include "reproduce/entry.hpp"
#include "reproduce/measure.hpp"

namespace entrain {
namespace {

constexpr double kGridStep = 0.01;  // s; both solutions are compared on this uniform grid
constexpr int kGridSteps = 20000;

struct Motion {
  std::vector<double> x, v;
};

/// Cubic Hermite of the position (its slopes are the velocities) on the uniform grid; the velocity is its derivative.
Motion on_grid(const MemoryRecorder& run) {
  const auto& t = run.times;
  const auto& x = run.column("left.x");
  const auto& v = run.column("left.v");
  Motion motion;
  std::size_t k = 0;
  for (int i = 0; i <= kGridSteps; ++i) {
    const double now = i * kGridStep;
    while (k + 2 < t.size() && t[k + 1] <= now) ++k;
    const double h = t[k + 1] - t[k];
    const double s = (now - t[k]) / h;
    const double rise = x[k + 1] - x[k];
    const double c2 = 3 * rise - h * (2 * v[k] + v[k + 1]);
    const double c3 = -2 * rise + h * (v[k] + v[k + 1]);
    motion.x.push_back(x[k] + s * (h * v[k] + s * (c2 + s * c3)));
    motion.v.push_back(v[k] + s * (2 * c2 + 3 * s * c3) / h);
  }
  return motion;
}

std::vector<ReproduceRow> table1(const Examples& examples) {
  struct Case {
    double step, paper_x, reference_x, paper_v, reference_v;
  };
  const Tolerance printed{1.5e-3, "the smallest verified value is printed with three digits"};
  const auto file = examples / "two_mass";
  const Motion exact = on_grid(run_example(file, "monolithic", kGridStep, {"left.x", "left.v"}));
  std::vector<ReproduceRow> rows;
  for (const auto& c : {Case{0.4, 1.928, 1.9063, 5.194, 5.1703}, Case{0.1, 0.412, 0.4035, 0.981, 0.9748},
                        Case{0.01, 0.030, 0.0389, 0.074, 0.0908}}) {
    const Motion ours = on_grid(run_example(file, "jacobi", c.step, {"left.x", "left.v"}));
    rows.push_back(compared(fmt::format("NI-Jacobi, step {:g} s: rmse of x1 in %", c.step), c.paper_x, c.reference_x,
                            percent_error(ours.x, exact.x), printed));
    rows.push_back(compared(fmt::format("NI-Jacobi, step {:g} s: rmse of v1 in %", c.step), c.paper_v, c.reference_v,
                            percent_error(ours.v, exact.v), printed));
  }
  return rows;
}

}  // namespace

std::vector<ReproduceEntry> f3ornits_entries() {
  return {{"f3ornits.table1", "two masses with a change at 100 s: error against step", &table1}};
}

}  // namespace entrain
