// How missiles grows with the number of subsystems: time per macro step and memory on chains, rings and grids, with the
// factors kept (linear cells) and computed anew in every step (nonlinear cells, linearized every step); on a chain of
// FMUs; and with two threads.
#include <malloc.h>

#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "budget.hpp"
#include "description/system_file.hpp"
#include "entrain/entrain.hpp"
#include "entrain/report.hpp"
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
  double seconds = 1e9;       ///< per macro step, of the processor
  double wall_seconds = 1e9;  ///< per macro step
  double bytes = 0.0;
};

/// Blocks that the system gave apart included: those of large factors are.
std::size_t allocated_bytes() {
  const auto use = mallinfo2();
  return use.uordblks + use.hblkhd;
}

/// Over some steps, when the first ones are made: enough of them that the summary, which each call of run_until brings
/// up to date, does not count.
Cost cost_of(const SystemDescription& description, std::size_t count, const ModelFactory& models = {},
             int threads = 1) {
  const auto before = allocated_bytes();
  RunOptions options;
  options.threads = threads;
  Simulation simulation(description, options, models);
  simulation.run_until(0.05);
  const int steps = static_cast<int>(std::max<std::size_t>(20, 20'000 / count));
  Cost best;
  Time t = 0.05;
  for (int i = 0; i < bench::kRepetitions; ++i) {
    t += 0.01 * steps;
    const auto begin = std::chrono::steady_clock::now();
    best.seconds = std::min(best.seconds, bench::seconds_of([&] { simulation.run_until(t - 0.005); }) / steps);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    best.wall_seconds = std::min(best.wall_seconds, taken.count() / steps);
  }
  if (simulation.summary().termination != Termination::Running) {
    fmt::print("{}\n", simulation.summary().message);
    std::exit(1);
  }
  best.bytes = static_cast<double>(allocated_bytes() - before);
  return best;
}

Cost measured(Shape shape, std::size_t count, bool linear, int threads = 1) {
  auto description = cells(shape, count);
  if (!linear) {
    apply_option(description, "linearize=\"every-step\"");
    apply_option(description, "reconstruction=0");
  }
  const auto models = [&](std::string_view name) -> std::unique_ptr<Model> {
    return std::make_unique<Cell>(name == "cell4" ? 4 : 2, linear ? 0.0 : 1.0);
  };
  return cost_of(description, count, models, threads);
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
  // From 100 on: below, what a step costs whatever their number (a fifth of it at 10) would make growth look slower.
  const std::vector<std::size_t> counts{100, 400, 1600, 10'000};
  for (const bool linear : {true, false}) {
    const auto print = [&](std::size_t count, const Cost& cost) {
      fmt::print("  {:<6} {:<12} {:>6} subsystems: {:8.1f} us per macro step, {:7.2f} MB\n", of.name,
                 linear ? "kept" : "refactored", count, 1e6 * cost.seconds, 1e-6 * cost.bytes);
    };
    const std::size_t few = of.shape == Shape::Grid ? 9 : 10;
    print(few, measured(of.shape, few, linear));
    std::vector<double> seconds, bytes;
    for (const std::size_t count : counts) {
      const Cost cost = measured(of.shape, count, linear);
      seconds.push_back(cost.seconds);
      bytes.push_back(cost.bytes);
      print(count, cost);
    }
    const std::string what = fmt::format("{}, factors {}, from 100 on", of.name, linear ? "kept" : "computed anew");
    budgets.check(what + ": exponent of time", exponent(counts, seconds), linear ? of.kept : of.refactored, "");
    if (linear) budgets.check(what + ": exponent of memory", exponent(counts, bytes), of.memory, "");
  }
}

void measure_fmus(bench::Budgets& budgets) {
  const std::vector<std::size_t> counts{50, 100, 200, 400};
  std::vector<double> seconds;
  for (const std::size_t count : counts) {
    auto description = reproducing::with_fmus(models::chain_system(count), FmuSet{ENTRAIN_FMUS});
    description.method = {"missiles", {}};
    description.step = Written<double>{0.01, {}};
    description.stop = Written<double>{1e3, {}};
    seconds.push_back(cost_of(description, count).seconds);
    fmt::print("  chain of FMUs       {:>6} subsystems: {:8.1f} us per macro step\n", count, 1e6 * seconds.back());
  }
  budgets.check("chain of FMUs, factors kept: exponent of time", exponent(counts, seconds), 1.1, "");
}

/// Everything around the steps: assembly, consistent start, first step, run.json.
void measure_set_up(bench::Budgets& budgets) {
  const std::vector<std::size_t> counts{1000, 3000, 10'000};
  std::vector<double> seconds;
  for (const std::size_t count : counts) {
    auto description = models::chain_system(count);
    description.method = {"missiles", {}};
    description.stop = description.step = Written<double>{0.01, {}};
    double best = 1e9;
    for (int i = 0; i < bench::kRepetitions; ++i) {
      best = std::min(best, bench::seconds_of([&] {
                        Simulation simulation(description);
                        const std::string json = summary_json(simulation.run(), simulation.signals());
                        if (json.find("\"completed\"") == std::string::npos) std::exit(1);
                      }));
    }
    seconds.push_back(best);
    fmt::print("  chain of masses     {:>6} subsystems: {:8.1f} ms for set-up, one step and run.json\n", count,
               1e3 * seconds.back());
  }
  budgets.check("chain of masses: exponent of the time for set-up and summary", exponent(counts, seconds), 1.25, "");
}

/// What a second thread does for 10 000 subsystems; no budget, for it depends on the machine. The factorisation itself
/// runs on one.
void compare_threads() {
  for (const bool linear : {true, false}) {
    const double one = measured(Shape::Chain, 10'000, linear, 1).wall_seconds;
    const double two = measured(Shape::Chain, 10'000, linear, 2).wall_seconds;
    fmt::print("  chain  {:<12}  10000 subsystems: {:8.1f} us by the wall with one thread, {:8.1f} with two\n",
               linear ? "kept" : "refactored", 1e6 * one, 1e6 * two);
  }
}

}  // namespace

int main() {
  bench::Budgets budgets;
  measure_fmus(budgets);
  for (const auto& growth : {Growth{"chain", Shape::Chain, 1.1, 1.25, 1.1}, Growth{"ring", Shape::Ring, 1.1, 1.25, 1.1},
                             Growth{"grid", Shape::Grid, 1.45, 1.7, 1.45}}) {
    measure(growth, budgets);
  }
  measure_set_up(budgets);
  compare_threads();
  return budgets.exit_code();
}
