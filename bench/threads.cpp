// What threads bring: macro steps of subsystems that compute for a given time, with one thread and with two, by the
// wall clock. On a machine that does something else as well, or has one processor, the ratios are smaller.
#include <algorithm>
#include <chrono>
#include <numeric>
#include <vector>

#include "budget.hpp"
#include "entrain/entrain.hpp"

namespace {

using namespace entrain;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// A chain of multiplications, which no compiler shortens.
double compute(std::uint64_t rounds) {
  double value = 1.0;
  for (std::uint64_t i = 0; i < rounds; ++i) value = value * 0.9999999 + 1e-9;
  return value;
}

std::uint64_t rounds_per_second() {
  constexpr std::uint64_t kRounds = 2'000'000;
  double best = 1e9;
  for (int i = 0; i < bench::kRepetitions; ++i) {
    const auto begin = Clock::now();
    const volatile double value = compute(kRounds);
    static_cast<void>(value);
    best = std::min(best, seconds_since(begin));
  }
  return static_cast<std::uint64_t>(static_cast<double>(kRounds) / best);
}

class Busy final : public Subsystem {
 public:
  Busy(std::string_view name, std::uint64_t rounds) : name_(name), rounds_(rounds) {
    variables_.outputs.push_back({"y", "", "", ValueType::Real, std::nullopt});
    capabilities_.feedthrough = Feedthrough(1, 0);
  }
  std::string_view name() const noexcept override { return name_; }
  const VariableTable& variables() const noexcept override { return variables_; }
  const Capabilities& capabilities() const override { return capabilities_; }
  Facets facets() noexcept override { return {}; }
  void set_start(VariableTable::Place, const Value&) override {}
  void initialize(Time, Time) override {}
  void evaluate(std::span<const double>, std::span<double> outputs) override { outputs[0] = 0.0; }
  StepReport step(const Step& step, std::span<double> outputs) override {
    outputs[0] = compute(rounds_);
    return {step.from + step.size};
  }

 private:
  std::string name_;
  std::uint64_t rounds_;
  VariableTable variables_;
  Capabilities capabilities_;
};

/// Seconds of the run.
double seconds(const std::vector<std::uint64_t>& rounds, int threads, int steps) {  // 0 threads: as many as pay
  SystemDescription description;
  description.method.value = "jacobi";
  description.step = {0.001, {}};
  description.stop = {0.001 * steps, {}};
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    auto& subsystem = description.subsystems.emplace_back();
    subsystem.name = fmt::format("{}", i);
    subsystem.model = "busy";
  }
  Extensions extensions;
  extensions.subsystems = [&](std::string_view, std::string_view name) -> std::unique_ptr<Subsystem> {
    return std::make_unique<Busy>(name, rounds[std::stoul(std::string(name))]);
  };
  Simulation simulation(description, {.threads = threads, .interrupt = nullptr}, extensions);
  const auto begin = Clock::now();
  if (simulation.run().termination != Termination::Completed) std::exit(1);
  return seconds_since(begin);
}

/// How many times as fast so many threads are; the best of several, each beside one thread.
double gain(const std::vector<std::uint64_t>& rounds, int threads, int steps) {
  double one = 1e9;
  double several = 1e9;
  for (int i = 0; i < bench::kRepetitions; ++i) {
    one = std::min(one, seconds(rounds, 1, steps));
    several = std::min(several, seconds(rounds, threads, steps));
  }
  return one / several;
}

}  // namespace

int main() {
  const double microsecond = static_cast<double>(rounds_per_second()) * 1e-6;
  const auto of = [&](std::vector<double> microseconds) {
    std::vector<std::uint64_t> rounds;
    for (const double each : microseconds) rounds.push_back(static_cast<std::uint64_t>(each * microsecond));
    return rounds;
  };
  bench::Budgets budgets;
  fmt::print("two threads beside one, best of {}; the budget is what the ratio of their times may be\n",
             bench::kRepetitions);
  const auto check = [&](const std::string& what, std::vector<double> microseconds, double least) {
    const double best = gain(of(std::move(microseconds)), 2, 2000);
    budgets.check(fmt::format("{}: {:.2f}x as fast", what, best), 1.0 / best, 1.0 / least, "");
  };
  check("2 of 50 us", std::vector(2, 50.0), 1.8);
  check("8 of 50 us", std::vector(8, 50.0), 1.85);
  check("8 of 5 us", std::vector(8, 5.0), 1.4);
  // The heaviest alone takes 500 us, all together 850: no more than 1.7 times as fast.
  for (const std::size_t place : {0U, 7U}) {
    std::vector<double> uneven(8, 50.0);
    uneven[place] = 500.0;
    const double bound = std::accumulate(uneven.begin(), uneven.end(), 0.0) / uneven[place];
    check(fmt::format("8, the {} of 500 us", place == 0 ? "first" : "last"), uneven, std::min(2.0, bound) / 1.1);
  }
  // As many as pay: the first steps are made without, and light subsystems lose next to nothing by the question.
  const auto choose = [&](const std::string& what, std::vector<double> microseconds, int steps, double least) {
    const double best = gain(of(std::move(microseconds)), 0, steps);
    budgets.check(fmt::format("auto, {}: {:.2f}x as fast", what, best), 1.0 / best, 1.0 / least, "");
  };
  choose("2 of 50 us", std::vector(2, 50.0), 5000, 1.7);
  choose("8 of 0.1 us", std::vector(8, 0.1), 200'000, 0.95);
  return budgets.exit_code();
}
