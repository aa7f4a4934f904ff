// What the error estimate costs beside a run: the same run with and without it. Subsystem steps of about 20 us are what
// the budget is for; lighter ones are printed beside it.
#include <stdexcept>

#include "budget.hpp"
#include "description/system_file.hpp"
#include "entrain/model.hpp"
#include "entrain/system.hpp"
#include "estimate/judged_run.hpp"
#include "estimate/propagated_error.hpp"
#include "models/chain_system.hpp"
#include "session/session.hpp"

namespace {

using namespace entrain;

constexpr double kBudget = 1.15;
constexpr double kNoBudget = 1e9;

/// Half of a ring of van der Pol oscillators, x'' = (1 - x^2) x' - x + u, by classical Runge-Kutta steps.
class Oscillator final : public Model {
 public:
  explicit Oscillator(int steps, Duration longest = kNever) : steps_(steps), longest_(longest) {
    table_.inputs.push_back({"u", "", "", ValueType::Real, 0.0});
    table_.outputs.push_back({"y", "", "", ValueType::Real, {}});
    table_.states = {{"x", "", "", ValueType::Real, 1.0}, {"v", "", "", ValueType::Real, 0.0}};
  }
  const VariableTable& variables() const noexcept override { return table_; }
  void configure(std::span<const Value>) override {}
  Feedthrough feedthrough() const override { return {1, 1, false}; }
  void derivatives(const Point& at, std::span<double> dx) const override { rates(at.x.data(), at.u[0], dx.data()); }
  void outputs(const Point& at, std::span<double> y) const override { y[0] = at.x[0]; }
  void linearize(const Point& at, Linearization& result) const override {
    result.A.resize(2, 2);
    result.B.resize(2, 1);
    result.C.resize(1, 2);
    result.D.resize(1, 1);
    result.A(0, 1) = 1.0;
    result.A(1, 0) = -2.0 * at.x[0] * at.x[1] - 1.0;
    result.A(1, 1) = 1.0 - at.x[0] * at.x[0];
    result.B(1, 0) = result.C(0, 0) = 1.0;
  }
  void integrate(Time, Duration size, const InputBlock& inputs, std::span<double> x) override {
    if (size > longest_) throw std::runtime_error("the step is too long");
    const double h = size / steps_;
    for (int i = 0; i < steps_; ++i) {
      double k1[2], k2[2], k3[2], k4[2], z[2];
      const double s = h * i;
      rates(x.data(), inputs.value(0, s), k1);
      for (int j = 0; j < 2; ++j) z[j] = x[static_cast<std::size_t>(j)] + 0.5 * h * k1[j];
      rates(z, inputs.value(0, s + 0.5 * h), k2);
      for (int j = 0; j < 2; ++j) z[j] = x[static_cast<std::size_t>(j)] + 0.5 * h * k2[j];
      rates(z, inputs.value(0, s + 0.5 * h), k3);
      for (int j = 0; j < 2; ++j) z[j] = x[static_cast<std::size_t>(j)] + h * k3[j];
      rates(z, inputs.value(0, s + h), k4);
      for (int j = 0; j < 2; ++j) x[static_cast<std::size_t>(j)] += h / 6.0 * (k1[j] + 2.0 * (k2[j] + k3[j]) + k4[j]);
    }
  }

 private:
  static void rates(const double* x, double u, double* dx) {
    dx[0] = x[1];
    dx[1] = (1.0 - x[0] * x[0]) * x[1] - x[0] + 0.3 * u;
  }
  int steps_;
  Duration longest_;
  VariableTable table_;
};

SystemDescription ring(std::size_t count, const std::string& method) {
  SystemDescription result;
  result.name = "ring";
  result.method = {method, {}};
  result.step = {0.01, {}};
  result.stop = {0.01 * 10'000.0 / static_cast<double>(count), {}};
  for (std::size_t s = 0; s < count; ++s) {
    auto& subsystem = result.subsystems.emplace_back();
    subsystem.name = "s" + std::to_string(s);
    subsystem.model = "oscillator";
    subsystem.start["x"] = {Value(1.0 + 0.1 * static_cast<double>(s)), {}};
    result.connections.push_back({"s" + std::to_string(s) + ".y", "s" + std::to_string((s + 1) % count) + ".u", {}});
  }
  return result;
}

struct Cost {
  double with = 1e9, without = 1e9, steps = 0.0;
};

Cost cost_of(const SystemDescription& description, const Extensions& extensions) {
  Cost cost;
  for (int i = 0; i < bench::kRepetitions; ++i) {
    for (const bool watched : {false, true}) {
      session::Session session(description, {}, extensions);
      estimate::PropagatedError error;
      if (watched) session.watch(error);
      double& best = watched ? cost.with : cost.without;
      best = std::min(best, bench::seconds_of([&] { session.run(); }));
      cost.steps = static_cast<double>(session.summary().macro_steps) * static_cast<double>(session.system().size());
    }
  }
  return cost;
}

/// A run as a user makes it, with its companions.
Cost cost_with_companions(const SystemDescription& description, const Extensions& extensions) {
  Cost cost;
  for (int i = 0; i < bench::kRepetitions; ++i) {
    session::Session session(description, {}, extensions);
    cost.without = std::min(cost.without, bench::seconds_of([&] { session.run(); }));
    cost.steps = static_cast<double>(session.summary().macro_steps) * static_cast<double>(session.system().size());
    cost.with = std::min(cost.with, bench::seconds_of([&] { estimate::estimated_run(description, {}, extensions); }));
  }
  return cost;
}

void print(bench::Budgets& budgets, const std::string& what, const Cost& cost, double budget) {
  budgets.check(fmt::format("{:<24} {:5.2f} us, without {:5.2f} us", what, cost.with / cost.steps * 1e6,
                            cost.without / cost.steps * 1e6),
                cost.with / cost.without, budget, "x");
}

void print_companions(bench::Budgets& budgets) {
  const auto heavy = [](Duration longest) {
    Extensions extensions;
    extensions.models = [=](std::string_view) { return std::make_unique<Oscillator>(1000, longest); };
    return extensions;
  };
  auto ring_of_two = ring(2, "jacobi");
  apply_option(ring_of_two, "degree=1");
  fmt::print("a run with companions, likewise\n");
  print(budgets, "one, 2 h", cost_with_companions(ring_of_two, heavy(0.03)), 1.6);
  print(budgets, "two, 2 h and 4 h", cost_with_companions(ring_of_two, heavy(kNever)), 1.9);
  print(budgets, "half the step", cost_with_companions(ring(2, "f3ornits"), heavy(kNever)), 3.2);
}

}  // namespace

int main() {
  bench::Budgets budgets;
  fmt::print("a run with propagated errors, per step of a subsystem, best of {}\n", bench::kRepetitions);
  for (const std::string method : {"jacobi", "missiles"}) {
    for (const std::size_t count : {2U, 10U, 40U}) {
      Extensions heavy;
      heavy.models = [](std::string_view) { return std::make_unique<Oscillator>(1000); };
      print(budgets, fmt::format("{}, {} nonlinear", method, count), cost_of(ring(count, method), heavy), kBudget);
    }
  }
  Extensions light;
  light.models = [](std::string_view) { return std::make_unique<Oscillator>(4); };
  print(budgets, "light, 2 nonlinear", cost_of(ring(2, "jacobi"), light), kNoBudget);
  for (const std::size_t masses : {2U, 10U, 100U}) {
    auto chain = models::chain_system(masses, false);
    chain.step = {1e-2, {}};
    chain.stop = {400.0 / static_cast<double>(masses), {}};
    print(budgets, fmt::format("light, {} linear", masses), cost_of(chain, {}), kNoBudget);
  }
  print_companions(budgets);
  return budgets.exit_code();
}
