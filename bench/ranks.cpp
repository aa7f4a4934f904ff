// What ranks cost and bring, on this machine: an exchange beside an allgather of MPI of the same size, and macro steps
// of subsystems that compute for a given time, by one rank and by two: of our own, and of FMUs, which are in the ranks
// or in workers, as they are under a launcher by default. By the wall clock: on a machine that does something else as
// well, or has one processor, the ratios are worse. Starts itself under mpirun. --light: the light subsystems alone.
#define OMPI_SKIP_MPICXX 1  // the interface for C alone
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "arguments.hpp"
#include "budget.hpp"
#include "entrain/entrain.hpp"
#include "ranks/rank_link.hpp"
#include "wide_fmu.hpp"

namespace {

using namespace entrain;
namespace fs = std::filesystem;
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

double rounds_per_second() {
  constexpr std::uint64_t kRounds = 2'000'000;
  double best = 1e9;
  for (int i = 0; i < bench::kRepetitions; ++i) {
    const auto begin = Clock::now();
    const volatile double value = compute(kRounds);
    static_cast<void>(value);
    best = std::min(best, seconds_since(begin));
  }
  return kRounds / best;
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
  /// As native models and FMUs have it: their steps are exchanged without a record of the call.
  HeldStep held_step() noexcept override {
    return {[](void* context, Time, Duration, const double*, double* outputs) -> const StepReport* {
              outputs[0] = compute(static_cast<const Busy*>(context)->rounds_);
              return nullptr;
            },
            this};
  }

 private:
  std::string name_;
  std::uint64_t rounds_;
  VariableTable variables_;
  Capabilities capabilities_;
};

/// What each of them does in a step.
struct Work {
  std::uint64_t rounds = 0;
  std::string fmu = {};     ///< in its place
  bool in_workers = false;  ///< over ranks; alone, FMUs are in the process of the run
};

/// Of a macro step, in s.
double step_seconds(std::size_t count, const Work& work, int steps, Ranks* ranks) {
  SystemDescription description;
  description.method.value = "jacobi";
  description.step = {0.001, {}};
  description.stop = {0.001 * (steps + 10), {}};
  for (std::size_t i = 0; i < count; ++i) {
    auto& subsystem = description.subsystems.emplace_back();
    subsystem.name = fmt::format("{}", i);
    if (work.fmu.empty()) {
      subsystem.model = "busy";
    } else {
      subsystem.fmu = work.fmu;
      subsystem.isolate = {ranks != nullptr && work.in_workers, {}};
    }
    if (ranks != nullptr) description.placement[subsystem.name] = {static_cast<int>(i) % ranks->size(), {}};
  }
  Extensions extensions;
  const auto busy = [&](std::string_view, std::string_view name) -> std::unique_ptr<Subsystem> {
    return std::make_unique<Busy>(name, work.rounds);
  };
  if (work.fmu.empty()) extensions.subsystems = busy;
  RunOptions options;
  options.ranks = ranks;
  Simulation simulation(description, options, extensions);
  simulation.run_until(0.01);
  const auto begin = Clock::now();
  if (simulation.run().termination != Termination::Completed) throw std::runtime_error(simulation.summary().message);
  return seconds_since(begin) / steps;
}

/// The first process alone, while the others wait without polling; then all.
struct Times {
  double alone = 1e9;
  double together = 1e9;
};
Times times(Ranks& ranks, std::size_t count, const Work& work, int steps) {
  Times best;
  for (int i = 0; i < bench::kRepetitions; ++i) {
    const auto bytes =
        ranks.link().from_first([&] { return base::to_bytes(step_seconds(count, work, steps, nullptr)); });
    double alone = 0.0;
    base::from_bytes(bytes, alone);
    best.alone = std::min(best.alone, alone);
    best.together = std::min(best.together, step_seconds(count, work, steps, &ranks));
  }
  return best;
}

/// FMUs whose steps compute for 1 ms and for 100 us: files of the first rank, as long as this object lives there.
class Fmus {
 public:
  explicit Fmus(Ranks& ranks) : is_first_(ranks.is_first()) {
    const auto bytes = ranks.link().from_first([] {
      const fs::path made = fs::temp_directory_path() / fmt::format("entrain-bench-ranks-{}", ::getpid());
      fs::create_directory(made);
      bench::write_wide_fmu(ENTRAIN_BUSY_FMU, made / "long.fmu");
      bench::write_wide_fmu(ENTRAIN_SHORT_FMU, made / "short.fmu");
      return base::to_bytes(made.string());
    });
    base::from_bytes(bytes, folder_);
  }
  ~Fmus() {
    std::error_code ignored;
    if (is_first_) fs::remove_all(folder_, ignored);
  }
  Fmus(const Fmus&) = delete;
  Fmus& operator=(const Fmus&) = delete;
  std::string long_steps() const { return folder_ + "/long.fmu"; }
  std::string short_steps() const { return folder_ + "/short.fmu"; }

 private:
  bool is_first_;
  std::string folder_;
};

/// Of an allgather of MPI and of an exchange, in s.
std::pair<double, double> exchange_seconds(Ranks& ranks, std::size_t bytes) {
  constexpr int kTimes = 2000;
  std::vector<std::byte> own(bytes);
  std::vector<std::byte> all(bytes * static_cast<std::size_t>(ranks.size()));
  std::pair<double, double> best{1e9, 1e9};
  for (int i = 0; i < bench::kRepetitions; ++i) {
    auto begin = Clock::now();
    for (int k = 0; k < kTimes; ++k) {
      MPI_Allgather(own.data(), static_cast<int>(bytes), MPI_BYTE, all.data(), static_cast<int>(bytes), MPI_BYTE,
                    MPI_COMM_WORLD);
    }
    best.first = std::min(best.first, seconds_since(begin) / kTimes);
    begin = Clock::now();
    for (int k = 0; k < kTimes; ++k) ranks.link().exchange(ranks::Purpose::Data, 7, own);
    best.second = std::min(best.second, seconds_since(begin) / kTimes);
  }
  return best;
}

int measure(Ranks& ranks, bool only_light) {
  bench::Budgets budgets;
  const bool speaks = ranks.is_first();
  for (const std::size_t bytes : {800U, 4000U, 8000U}) {
    if (only_light && bytes != 4000) continue;
    const auto [allgather, exchange] = exchange_seconds(ranks, bytes);
    if (speaks) {
      fmt::print("{} bytes of each rank: MPI_Allgather {:.2f} us, exchange {:.2f} us\n", bytes, 1e6 * allgather,
                 1e6 * exchange);
      budgets.check(fmt::format("exchange of {} bytes / allgather", bytes), exchange / allgather, 2.0, "x");
    }
  }
  const auto rate_bytes = ranks.link().from_first([] { return base::to_bytes(rounds_per_second()); });
  double rate = 0.0;
  base::from_bytes(rate_bytes, rate);
  const auto of_seconds = [&](double seconds) { return Work{.rounds = static_cast<std::uint64_t>(seconds * rate)}; };
  const auto compare = [&](const std::string& what, std::size_t count, const Work& work, int steps, double least) {
    const Times of = times(ranks, count, work, steps);
    if (!speaks) return of;
    fmt::print("{}: {:.4g} us alone, {:.4g} us by {} ranks: {:.3g} times as fast\n", what, 1e6 * of.alone,
               1e6 * of.together, ranks.size(), of.alone / of.together);
    budgets.check(fmt::format("{}: {:.3g} / that", what, least), least / (of.alone / of.together), 1.0, "x");
    return of;
  };
  if (!only_light) {
    const Fmus fmus(ranks);
    compare("8 subsystems of 1 ms", 8, of_seconds(1e-3), 50, 1.9);
    compare("8 subsystems of 100 us", 8, of_seconds(1e-4), 200, 1.7);
    for (const bool in_workers : {false, true}) {
      const char* where = in_workers ? "workers" : "the ranks";
      compare(fmt::format("8 FMUs of 1 ms in {}", where), 8, {.fmu = fmus.long_steps(), .in_workers = in_workers}, 50,
              1.9);
      compare(fmt::format("8 FMUs of 100 us in {}", where), 8, {.fmu = fmus.short_steps(), .in_workers = in_workers},
              200, 1.7);
    }
  }
  const Times light = compare("1000 subsystems of 60 ns", 1000, of_seconds(6e-8), 400, 1.0);
  // What is left beside half of the work is that of every rank for each subsystem (docs/theory/ranks.md).
  if (speaks) fmt::print("replicated part: {:.3g} ns per subsystem\n", 1e9 * (light.together - light.alone / 2) / 1000);
  return speaks ? budgets.exit_code() : 0;
}

}  // namespace

int main(int argc, char** argv) {
  bool only_light = false;
  if (!bench::take_arguments(argc, argv, "bench_ranks", {{.name = "--light", .flag = &only_light}})) return 2;
  if (!Ranks::launched()) {
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    ::execlp("mpirun", "mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none", argv[0],
             only_light ? "--light" : nullptr, nullptr);
    fmt::print(stderr, "mpirun cannot be started\n");
    return 1;
  }
  try {
    Ranks ranks(nullptr);
    const int code = ranks.take_part([&] { return measure(ranks, only_light); });
    std::fflush(stdout);
    std::_Exit(code);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
