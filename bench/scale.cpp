// How missiles grows with the number of subsystems: time per macro step and memory on chains, rings and grids, with the
// factors kept (linear cells) and computed anew in every step (nonlinear cells, linearized every step); and on a chain
// of FMUs.
#include <malloc.h>

#include <cmath>
#include <string>
#include <vector>

#include "budget.hpp"
#include "description/system_file.hpp"
#include "entrain/entrain.hpp"
#include "models/chain_system.hpp"
#include "reproduce/measure.hpp"

namespace {

using namespace entrain;

/// dx/dt = sum of the inputs - n x - bend x^3, y = x: heat that flows between n neighbours.
class Cell final : public Model {
 public:
  Cell(std::size_t neighbours, double bend) : bend_(bend) {
    for (std::size_t i = 0; i < neighbours; ++i) {
      table_.inputs.push_back({fmt::format("u{}", i), "", "", ValueType::Real, 0.0});
    }
    table_.outputs.push_back({"x", "", "", ValueType::Real, {}});
    table_.states.push_back({"x", "", "", ValueType::Real, 0.0});
  }

  const VariableTable& variables() const noexcept override { return table_; }
  void configure(std::span<const Value>) override {}
  Feedthrough feedthrough() const override { return {1, table_.inputs.size(), false}; }
  void derivatives(const Point& at, std::span<double> dx) const override {
    dx[0] = rate(at.x[0], [&](std::size_t i) { return at.u[i]; });
  }
  void outputs(const Point& at, std::span<double> y) const override { y[0] = at.x[0]; }
  void linearize(const Point& at, Linearization& result) const override {
    const std::size_t inputs = table_.inputs.size();
    result.A.resize(1, 1);
    result.B.resize(1, inputs);
    result.C.resize(1, 1);
    result.D.resize(1, inputs);
    result.A(0, 0) = -static_cast<double>(inputs) - 3.0 * bend_ * at.x[0] * at.x[0];
    for (std::size_t i = 0; i < inputs; ++i) result.B(0, i) = 1.0;
    result.C(0, 0) = 1.0;
  }
  /// One classical Runge-Kutta step: cheap, so that the coupling is what is measured.
  void integrate(Time, Duration h, const InputBlock& inputs, std::span<double> x) override {
    const auto f = [&](Duration s, double at) { return rate(at, [&](std::size_t i) { return inputs.value(i, s); }); };
    const double k1 = f(0.0, x[0]);
    const double k2 = f(0.5 * h, x[0] + 0.5 * h * k1);
    const double k3 = f(0.5 * h, x[0] + 0.5 * h * k2);
    const double k4 = f(h, x[0] + h * k3);
    x[0] += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
  }

 private:
  template <class Input>
  double rate(double x, const Input& input) const {
    double sum = -bend_ * x * x * x;
    for (std::size_t i = 0; i < table_.inputs.size(); ++i) sum += input(i) - x;
    return sum;
  }

  double bend_;
  VariableTable table_;
};

enum class Shape { Chain, Ring, Grid };

/// Cells in `rows` rows of `columns`; a chain or ring is one row.
SystemDescription cells(Shape shape, std::size_t count) {
  SystemDescription system;
  system.stop = Written<double>{1e3, {}};
  system.step = Written<double>{0.01, {}};
  system.method = {"missiles", {}};
  const auto side = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(count))));
  const std::size_t columns = shape == Shape::Grid ? side : count;
  const std::size_t rows = shape == Shape::Grid ? side : 1;
  const auto name = [&](std::size_t row, std::size_t column) { return fmt::format("c{}", row * columns + column); };
  std::vector<std::size_t> used(rows * columns, 0);
  const auto join = [&](std::size_t from, std::size_t to) {
    system.connections.push_back({fmt::format("c{}.x", from), fmt::format("c{}.u{}", to, used[to]++), {}});
  };
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      auto& cell = system.subsystems.emplace_back();
      cell.name = name(row, column);
      cell.model = shape == Shape::Grid ? "cell4" : "cell2";
      cell.start["x"] = {std::sin(static_cast<double>(row + 3 * column)), {}};
    }
  }
  const auto place = [&](std::size_t row, std::size_t column) { return row * columns + column; };
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      const bool wraps = shape == Shape::Ring;
      if (column + 1 < columns || wraps) {
        const std::size_t next = place(row, (column + 1) % columns);
        join(place(row, column), next);
        join(next, place(row, column));
      }
      if (row + 1 < rows) {
        join(place(row, column), place(row + 1, column));
        join(place(row + 1, column), place(row, column));
      }
    }
  }
  return system;
}

struct Cost {
  double seconds;  ///< per macro step
  double bytes;
};

/// Over a few steps, when the first ones are made.
Cost cost_of(const SystemDescription& description, std::size_t count, const ModelFactory& models = {}) {
  const auto before = mallinfo2().uordblks;
  Simulation simulation(description, {}, models);
  simulation.run_until(0.05);
  const int steps = static_cast<int>(std::max<std::size_t>(4, 20'000 / count));
  double best = 1e9;
  Time t = 0.05;
  for (int i = 0; i < bench::kRepetitions; ++i) {
    t += 0.01 * steps;
    best = std::min(best, bench::seconds_of([&] { simulation.run_until(t - 0.005); }) / steps);
  }
  if (simulation.summary().termination != Termination::Running) {
    fmt::print("{}\n", simulation.summary().message);
    std::exit(1);
  }
  return {best, static_cast<double>(mallinfo2().uordblks - before)};
}

Cost measured(Shape shape, std::size_t count, bool linear) {
  auto description = cells(shape, count);
  if (!linear) {
    apply_option(description, "linearize=\"every-step\"");
    apply_option(description, "reconstruction=0");
  }
  return cost_of(description, count, [&](std::string_view name) -> std::unique_ptr<Model> {
    return std::make_unique<Cell>(name == "cell4" ? 4 : 2, linear ? 0.0 : 1.0);
  });
}

/// Slope of the line through (log count, log value).
double exponent(const std::vector<std::size_t>& counts, const std::vector<double>& values) {
  double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const double x = std::log(static_cast<double>(counts[k]));
    const double y = std::log(values[k]);
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  const auto n = static_cast<double>(counts.size());
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

struct Growth {
  const char* name;
  Shape shape;
  double kept, refactored, memory;  ///< budgets of the exponents
};

void measure(const Growth& of, bench::Budgets& budgets) {
  const std::vector<std::size_t> counts{100, 400, 1600, 10'000};
  for (const bool linear : {true, false}) {
    std::vector<double> seconds, bytes;
    for (const std::size_t count : counts) {
      const Cost cost = measured(of.shape, count, linear);
      seconds.push_back(cost.seconds);
      bytes.push_back(cost.bytes);
      fmt::print("  {:<6} {:<12} {:>6} subsystems: {:8.1f} us per macro step, {:7.2f} MB\n", of.name,
                 linear ? "kept" : "refactored", count, 1e6 * cost.seconds, 1e-6 * cost.bytes);
    }
    const std::string what = fmt::format("{}, factors {}", of.name, linear ? "kept" : "computed anew");
    budgets.check(what + ": exponent of time", exponent(counts, seconds), linear ? of.kept : of.refactored, "");
    if (linear) budgets.check(what + ": exponent of memory", exponent(counts, bytes), of.memory, "");
  }
}

void measure_fmus(bench::Budgets& budgets) {
  const std::vector<std::size_t> counts{50, 100, 200, 400};
  std::vector<double> seconds;
  for (const std::size_t count : counts) {
    auto description = with_fmus(chain_system(count), FmuSet{ENTRAIN_FMUS});
    description.method = {"missiles", {}};
    description.step = Written<double>{0.01, {}};
    description.stop = Written<double>{1e3, {}};
    seconds.push_back(cost_of(description, count).seconds);
    fmt::print("  chain of FMUs       {:>6} subsystems: {:8.1f} us per macro step\n", count, 1e6 * seconds.back());
  }
  budgets.check("chain of FMUs, factors kept: exponent of time", exponent(counts, seconds), 1.1, "");
}

}  // namespace

int main() {
  bench::Budgets budgets;
  measure_fmus(budgets);
  for (const auto& growth : {Growth{"chain", Shape::Chain, 1.1, 1.25, 1.1}, Growth{"ring", Shape::Ring, 1.1, 1.25, 1.1},
                             Growth{"grid", Shape::Grid, 1.45, 1.7, 1.45}}) {
    measure(growth, budgets);
  }
  return budgets.exit_code();
}
