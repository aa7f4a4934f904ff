// Under mpirun: every example with every method, by all ranks together and by the first one alone: the same bits, the
// same errors, the same counters; checkpoints of one go on in the other. Then steps that are estimated in every way:
// the same again, by estimators where the subsystems live alone. Then systems with clocks, buses and values of every
// type, their FMUs in workers and in the ranks: the same rows and frames.
//
//     mpirun -n 3 same_bits EXAMPLES THREADS FOLDER [SHARE OFFSET]
//
// FOLDER is for checkpoints, and of this job alone. SHARE: only one of so many combinations, those of this OFFSET
// (0 .. SHARE - 1), among them every example and every method. With ENTRAIN_RANKS_MEMORY=off all goes through MPI
// alone.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "entrain/entrain.hpp"
#include "ranks/rank_link.hpp"
#include "support/event_scenarios.hpp"
#include "support/linear_networks.hpp"

namespace {

using namespace entrain;
namespace fs = std::filesystem;

constexpr double kSteps = 24;  // of a run, so that many of them take seconds

/// What a run brought.
struct Outcome {
  std::string error;  ///< of a system that was refused, or how the run ended
  bool ran = false;
  Recording rows;
  std::string files;  ///< of a run into a folder: its rows and frames
  std::vector<std::uint64_t> counters;
  std::vector<std::string> notes;
};

bool is_same(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) {
           return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
         });
}

/// What differs; empty of the same.
std::string difference(const Outcome& alone, const Outcome& together) {
  if (alone.error != together.error) return fmt::format("alone: {}; together: {}", alone.error, together.error);
  if (alone.rows.names != together.rows.names) return "other signals";
  if (!is_same(alone.rows.times, together.rows.times)) return "other times";
  for (std::size_t i = 0; i < alone.rows.columns.size(); ++i) {
    if (!is_same(alone.rows.columns[i], together.rows.columns[i])) return "other values of " + alone.rows.names[i];
  }
  if (alone.files != together.files) return "other rows or frames in the files";
  if (alone.notes != together.notes) return fmt::format("other notes: {} | {}", alone.notes, together.notes);
  return alone.counters == together.counters ? "" : "other counters";
}

void note_end(const RunSummary& summary, Outcome& outcome) {
  outcome.error = fmt::format("{} {}", to_string(summary.termination), summary.message);
  outcome.ran = true;
  for (const auto& note : summary.notes) {
    const bool of_machine = name_of(note.code).starts_with("ranks-") || note.code == FactCode::CallTakesLong;
    if (!of_machine) outcome.notes.push_back(render(note));
  }
  outcome.counters = {summary.macro_steps, summary.rejected_steps, summary.iterations, summary.linearizations};
  for (const auto& of : summary.subsystems) {
    for (const auto count : {of.steps, of.trials, of.rollbacks}) outcome.counters.push_back(count);
  }
}

std::vector<std::string> everything(const SystemDescription& description) {
  std::vector<std::string> patterns;
  for (const auto& subsystem : description.subsystems) patterns.push_back(subsystem.name + ".*");
  return patterns;
}

RunOptions options_of(Ranks* ranks, int threads) {
  RunOptions options;
  options.threads = threads;
  options.ranks = ranks;
  return options;
}

Outcome outcome_of(const SystemDescription& description, const RunOptions& options, const Extensions& extensions) {
  Outcome outcome;
  try {
    Simulation simulation(description, options, extensions);
    MemoryRecorder recorder(everything(description));
    simulation.observe(recorder);
    simulation.run();
    note_end(simulation.summary(), outcome);
    outcome.rows = recorder;
  } catch (const Error& error) {
    outcome.error = error.what();
  }
  return outcome;
}

/// Half a run, then a file, then the other half in another simulation.
Outcome outcome_by_checkpoint(const SystemDescription& description, const RunOptions& before, const RunOptions& after,
                              const fs::path& file, const Extensions& extensions) {
  Outcome outcome;
  try {
    const double middle = 0.5 * (description.start.value + description.stop->value);
    if (before.ranks != nullptr || after.ranks == nullptr || after.ranks->is_first()) {
      Simulation simulation(description, before, extensions);
      simulation.run_until(middle);
      simulation.save(file);
    }
    Simulation simulation(description, after, extensions);
    MemoryRecorder recorder(everything(description));
    simulation.observe(recorder);
    simulation.resume(file);
    simulation.run();
    note_end(simulation.summary(), outcome);
    outcome.rows = recorder;
  } catch (const Error& error) {
    outcome.error = error.what();
  }
  return outcome;
}

/// Of a run into a folder; what every rank but the first one writes goes with it.
Outcome outcome_in_files(const SystemDescription& description, const RunOptions& options, const fs::path& folder) {
  Outcome outcome;
  try {
    const auto result =
        run(description, {.run = options, .folder = folder, .overwrite = true, .estimate = false, .control = false});
    note_end(result.summary, outcome);
    outcome.files = test::text_of(folder / "results.csv") + test::text_of(folder / "frames.csv");
  } catch (const Error& error) {
    outcome.error = error.what();
  }
  return outcome;
}

class Check {
 public:
  Check(Ranks& ranks, int threads) : ranks_(ranks), threads_(threads) {}
  Ranks& ranks() const { return ranks_; }
  int threads() const { return threads_; }

  /// In the first process, what differs; in the others nothing is compared.
  void check(const SystemDescription& description, const std::string& name, const Extensions& extensions = {}) {
    const Outcome alone = ranks_.is_first() ? outcome_of(description, options_of(nullptr, 1), extensions) : Outcome();
    compare(name, alone, outcome_of(description, options_of(&ranks_, threads_), extensions));
    ++runs_;
  }

  void check_checkpoints(const SystemDescription& description, const std::string& name, const fs::path& folder,
                         const Extensions& extensions = {}) {
    const fs::path file = folder / "checkpoint";
    const auto here = options_of(nullptr, 1);
    const auto shared = options_of(&ranks_, threads_);
    const Outcome alone =
        ranks_.is_first() ? outcome_by_checkpoint(description, here, here, file, extensions) : Outcome();
    const Outcome together = outcome_by_checkpoint(description, shared, shared, file, extensions);
    compare(name + ", checkpoint", alone, together);
    ++runs_;
    if (!together.ran) return;  // refused: one process would know it alone, and leave the others waiting
    compare(name + ", checkpoint of one process", alone,
            outcome_by_checkpoint(description, here, shared, file, extensions));
    ++runs_;
  }

  /// Where the subsystem lives, and nowhere else, its estimator was asked.
  void check_home(const SystemDescription& description, const std::string& name, const Extensions& extensions,
                  std::int64_t home, const std::uint64_t& asked) {
    const std::uint64_t before = asked;
    static_cast<void>(outcome_of(description, options_of(&ranks_, threads_), extensions));
    const auto of_all = ranks_.link().gather(base::to_bytes(asked - before));
    for (std::size_t r = 0; r < of_all.size(); ++r) {
      std::uint64_t count = 0;
      base::from_bytes(of_all[r], count);
      if ((count > 0) == (static_cast<std::int64_t>(r) == home)) continue;
      ++differences_;
      if (ranks_.is_first()) fmt::print("{}: rank {} asked the estimator {} times\n", name, r, count);
    }
    ++runs_;
  }

  void check_files(const SystemDescription& description, const std::string& name, const fs::path& folder) {
    const auto here = options_of(nullptr, 1);
    const auto shared = options_of(&ranks_, threads_);
    const Outcome alone = ranks_.is_first() ? outcome_in_files(description, here, folder / "alone") : Outcome();
    const Outcome together = outcome_in_files(description, shared, folder / "together");
    compare(name, alone, together);
    if (ranks_.is_first() && std::count(together.files.begin(), together.files.end(), '\n') < 4) {
      ++differences_;
      fmt::print("{}: no rows, {}\n", name, together.error);
    }
    ++runs_;
  }

  int result() const {
    if (!ranks_.is_first()) return 0;
    fmt::print("{} ranks, {} threads: {} runs, {} differ\n", ranks_.size(), threads_, runs_, differences_);
    return differences_ == 0 && runs_ > 0 ? 0 : 1;
  }

 private:
  void compare(const std::string& name, const Outcome& alone, const Outcome& together) {
    if (!ranks_.is_first()) return;
    const auto what = difference(alone, together);
    if (what.empty()) return;
    ++differences_;
    fmt::print("{}: {}\n", name, what);
  }

  Ranks& ranks_;
  int threads_;
  int runs_ = 0;
  int differences_ = 0;
};

/// Of a user: follows the line through the latest two points. Counts how often it is asked, or refuses some time.
class Line final : public StepEstimator {
 public:
  Line(std::uint64_t& asked, Time refuses_from) : asked_(asked), refuses_from_(refuses_from) {}
  void observe(const Point& point) override {
    before_ = now_;
    outputs_before_ = outputs_;
    now_ = point.t;
    outputs_.assign(point.outputs.begin(), point.outputs.end());
  }
  void estimate(Duration size, const InputBlock& inputs, std::span<double> outputs, std::span<double> slopes) override {
    ++asked_;
    if (now_ >= refuses_from_) throw std::runtime_error("this line ends here");
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const bool has_slope = !outputs_before_.empty() && now_ > before_;
      slopes[o] = has_slope ? (outputs_[o] - outputs_before_[o]) / (now_ - before_) : 0.0;
      outputs[o] = outputs_[o] + size * slopes[o] + 0.01 * size * inputs.value(0, size);
    }
  }
  void forget_past() override { outputs_before_.clear(); }
  std::vector<std::byte> save() const override { return base::to_bytes(before_, now_, outputs_before_, outputs_); }
  void restore(std::span<const std::byte> bytes) override {
    base::from_bytes(bytes, before_, now_, outputs_before_, outputs_);
  }

 private:
  std::uint64_t& asked_;
  Time refuses_from_;
  Time before_ = 0.0, now_ = 0.0;
  std::vector<double> outputs_before_, outputs_;
};

/// Four in two rings: a large one, one with feedthrough that takes straight inputs alone, one that shows nothing but
/// its outputs, and one that is estimated by a line.
test::LinearSystem estimated_system() {
  test::LinearSystem system;
  for (const std::size_t states : {60U, 2U, 2U, 1U}) {
    auto& part = system.parts.emplace_back();
    const std::size_t s = system.parts.size() - 1;
    part.matrices = {Matrix(states, states), Matrix(states, 2), Matrix(2, states), Matrix(2, 2)};
    for (std::size_t i = 0; i < states; ++i) {
      part.matrices.A(i, i) = -1.0 - 0.1 * static_cast<double>(s);
      if (i > 0) part.matrices.A(i, i - 1) = 0.4;
      part.matrices.B(i, i % 2) = 0.3;
      part.matrices.C(i % 2, i) = 0.5;
      part.start.push_back(1.0 / static_cast<double>(i + s + 1));
    }
    part.sources = {{(s + 1) % 4, 0}, {(s + 3) % 4, 1}};
  }
  system.parts[1].matrices.D(0, 1) = 0.25;
  system.parts[1].input_degree = 1;
  system.parts[2].input_degree = 0;
  return system;
}

/// With all subsystems on other ranks than in the run before.
SystemDescription placed(SystemDescription description, int ranks, int shift) {
  for (std::size_t s = 0; s < description.subsystems.size(); ++s) {
    const auto rank =
        static_cast<std::int64_t>((s + static_cast<std::size_t>(shift)) % static_cast<std::size_t>(ranks));
    description.placement[description.subsystems[s].name] = {rank, {}};
  }
  return description;
}

SystemDescription shortened(SystemDescription description) {
  const double length = description.stop->value - description.start.value;
  if (!description.step) description.step = {length / 200, {}};
  description.stop->value =
      std::min(description.stop->value, description.start.value + kSteps * description.step->value);
  return description;
}

/// Those whose FMUs are there: some examples begin with the making of one by another tool.
std::vector<SystemDescription> systems_of(const fs::path& examples) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(examples)) {
    const bool has_rig = entry.path().filename() == "bench";  // a part outside, which no process here plays
    if (entry.is_directory() && !has_rig) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  std::vector<SystemDescription> systems;
  for (const auto& folder : folders) {
    const auto files = fs::directory_iterator(folder);
    const bool has_system =
        std::any_of(begin(files), end(files), [](const auto& entry) { return entry.path().extension() == ".toml"; });
    if (!has_system) continue;
    auto system = shortened(load(folder));
    const auto& parts = system.subsystems;
    const bool whole = std::all_of(parts.begin(), parts.end(), [&](const auto& part) {
      return part.fmu.empty() || fs::exists(system.file.parent_path() / part.fmu);
    });
    if (whole) systems.push_back(std::move(system));
  }
  return systems;
}

class Everything {
 public:
  Everything(Check& check, const fs::path& folder, int share, int offset)
      : ranks_(check.ranks()), check_(check), folder_(folder), share_(share), offset_(offset) {}

  void check_examples(const fs::path& examples) {
    int row = 0;
    for (const auto& system : systems_of(examples)) {
      int column = row++;  // shifted by one in every row: a share has no method of its own
      for (const auto& method : methods()) {
        if (!is_chosen(column++)) continue;
        SystemDescription with = placed(system, ranks_.size(), made_);
        with.method = {method.traits.name, {}};
        const std::string name =
            fmt::format("{} with {}", system.file.parent_path().filename().string(), method.traits.name);
        check_.check(with, name);
        check_.check_checkpoints(with, name, folder_);
      }
    }
  }

  /// Estimates of every kind, by the methods that use them.
  void check_estimates() {
    int row = 0;
    std::uint64_t asked = 0;
    const auto system = estimated_system();
    const auto extensions_until = [&](Time refuses_from) {
      Extensions extensions(system.models());
      extensions.add_estimator("line", [&asked, refuses_from](const EstimatorRequest&) {
        return std::make_unique<Line>(asked, refuses_from);
      });
      return extensions;
    };
    const Extensions extensions = extensions_until(kNever);
    for (const std::string method : {"missiles", "ifosmondi", "waveform"}) {
      for (const bool adaptive : {false, true}) {
        int column = row++;  // as above
        for (const bool goes_back : {false, true}) {
          if (!is_chosen(column++)) continue;
          auto description = placed(system.description(method, 0.05, 0.4), ranks_.size(), made_);
          auto& options = description.method_options[method];
          options["adaptive"] = {OptionValue(adaptive), {}};
          if (adaptive) options["min_step"] = {OptionValue(0.02), {}};
          if (method == "ifosmondi") options["predictor"] = {OptionValue(std::string("missiles")), {}};
          if (!goes_back) {
            for (std::size_t s = 0; s < 2; ++s) description.subsystems[s].trials = {TrialChoice::Costarica, {}};
          }
          description.subsystems[2].estimator = {"identified", {}};
          description.subsystems[3].estimator = {"line", {}};
          const std::string name = fmt::format("estimates of {}{}{}", method, adaptive ? ", adaptive" : "",
                                               goes_back ? ", some go back" : "");
          check_.check(description, name, extensions);
          check_.check_checkpoints(description, name, folder_, extensions);
          check_.check(description, name + ", one refuses", extensions_until(0.2));
          check_.check_home(description, name, extensions, description.placement["s3"].value, asked);
        }
      }
    }
  }

  void check_events() {
    std::optional<test::TemporaryFolder> parts;  // all ranks are on this machine
    const auto bytes = ranks_.link().from_first([&] {
      test::write_event_parts(parts.emplace());
      return base::to_bytes(parts->path().string());
    });
    std::string place;
    base::from_bytes(bytes, place);
    int row = 0;
    for (const auto& scenario : test::event_scenarios()) {
      int column = row++;
      for (const bool in_rank : {false, true}) {
        if (!is_chosen(column++)) continue;
        auto system = placed(test::event_system(place, scenario), ranks_.size(), made_);
        if (in_rank) system.isolate = {false, {}};
        for (auto& subsystem : system.subsystems) {
          if (in_rank && !subsystem.fmu.empty()) subsystem.isolate = {false, {}};
        }
        check_.check_files(system, fmt::format("{} {}", scenario.name, in_rank ? "in the ranks" : "in workers"),
                           folder_);
      }
    }
  }

 private:
  bool is_chosen(int number) {
    if (number % share_ != offset_) return false;
    ++made_;
    return true;
  }

  Ranks& ranks_;
  Check& check_;
  fs::path folder_;
  int share_;
  int offset_;
  int made_ = 0;
};

/// Ranks of one node that went through MPI, or the other way round, would leave the rest of this test without meaning.
bool has_expected_memory(Ranks& ranks) {
  const char* memory = std::getenv("ENTRAIN_RANKS_MEMORY");
  const bool wanted = memory == nullptr || std::string_view(memory) != "off";
  if (ranks.link().shares_memory() == wanted) return true;
  fmt::print("exchanges go {}\n", wanted ? "through MPI alone" : "through shared memory");
  return false;
}

int check_all(Ranks& ranks, const fs::path& examples, int threads, const fs::path& folder, int share, int offset) {
  if (!has_expected_memory(ranks)) return 1;
  Check check(ranks, threads);
  Everything all(check, folder, share, offset);
  all.check_examples(examples);
  all.check_estimates();
  all.check_events();
  check.check(shortened(load(examples / "mechanical")), "mechanical with auto, placed by a pilot");
  return check.result();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 6) return 2;
  try {
    Ranks ranks(nullptr);
    const int share = argc == 6 ? std::atoi(argv[4]) : 1;
    const int offset = argc == 6 ? std::atoi(argv[5]) : 0;
    fs::create_directories(argv[3]);
    const int code =
        ranks.take_part([&] { return check_all(ranks, argv[1], std::atoi(argv[2]), argv[3], share, offset); });
    std::fflush(stdout);
    std::_Exit(code);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
