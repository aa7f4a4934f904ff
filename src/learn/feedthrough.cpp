#include "learn/feedthrough.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "entrain/fact_codes.hpp"

namespace entrain::learning {
namespace {

// From where and by how much inputs are moved, in units of 1 + their size. One point is not enough: a cubic spring that
// is not deflected does not answer to a small move. No ratio of two of them is simple, so that symmetric functions
// show.
constexpr std::array<double, 3> kPoints{0.0, 0.37, -0.61};
constexpr std::array<double, 4> kMoves{1e-3, -0.13, 0.71, 1.9};
constexpr double kRounding = 64 * std::numeric_limits<double>::epsilon();
constexpr int kLooks = 16;            // at linearizations during the first run
constexpr double kShareLooked = 0.1;  // of the run

/// One output and one connected input of the same subsystem.
struct Pair {
  SubsystemId subsystem;
  OutputId output;
  InputId input;
  bool seen = false;
};

class FeedthroughSearch {
 public:
  explicit FeedthroughSearch(RepeatedRun& run) : run_(run) {
    const Graph& graph = system().graph();
    for (std::size_t s = 0; s < system().size(); ++s) {
      for (const OutputId output : graph.outputs_of(SubsystemId{s})) {
        for (const InputId input : graph.inputs_of(SubsystemId{s})) {
          if (graph.source(input) == nullptr || !graph.feedthrough(output, input)) continue;
          pairs_.push_back({SubsystemId{s}, output, input});
        }
      }
    }
  }

  FoundFeedthrough find() {
    run_.initialize();
    move_inputs();
    look_at_linearizations();
    if (!decided()) look_during_a_run();
    return result();
  }

 private:
  CoupledSystem& system() { return run_.system(); }
  bool decided() const {
    return std::all_of(pairs_.begin(), pairs_.end(), [](const Pair& pair) { return pair.seen; });
  }

  void look_at_linearizations() {
    for (std::size_t s = 0; s < system().size(); ++s) {
      const SubsystemId subsystem{s};
      if (!system().capabilities(subsystem).linearization) continue;
      Linearization matrices;
      system().linearize_all(std::span(&subsystem, 1), std::span(&matrices, 1));
      const std::size_t first_output = system().graph().outputs_of(subsystem).first;
      const std::size_t first_input = system().graph().inputs_of(subsystem).first;
      for (Pair& pair : pairs_) {
        if (pair.subsystem != subsystem) continue;
        if (matrices.D(pair.output - first_output, pair.input - first_input) != 0.0) pair.seen = true;
      }
    }
  }

  /// Before the first step outputs can be evaluated for any inputs.
  void move_inputs() {
    const std::vector<double> start(system().inputs().begin(), system().inputs().end());
    for (std::size_t s = 0; s < system().size(); ++s) {
      // What is declared as independent is not moved: it may be hardware.
      if (std::none_of(pairs_.begin(), pairs_.end(), [&](const Pair& pair) { return pair.subsystem == s; })) continue;
      try {
        for (const double point : kPoints) move_inputs_from(SubsystemId{s}, start, point);
        evaluate(SubsystemId{s}, start);
      } catch (const Error& error) {  // it does not like a value: what it declares stands
        for (Pair& pair : pairs_) pair.seen = pair.seen || pair.subsystem == s;
        notes_.push_back(
            {FactCode::FeedthroughAsDeclared, {system().graph().name(SubsystemId{s})}, {{"why", error.message()}}});
        run_.require_rebuild();
        run_.initialize();
      }
    }
  }

  void move_inputs_from(SubsystemId s, const std::vector<double>& start, double point) {
    const auto inputs = system().graph().inputs_of(s);
    std::vector<double> from = start;
    for (const InputId input : inputs) from[input] += point * (1.0 + std::abs(start[input]));
    const std::vector<double> before = evaluate(s, from);
    for (const InputId input : inputs) {
      for (const double move : kMoves) {
        std::vector<double> moved = from;
        moved[input] += move * (1.0 + std::abs(start[input]));
        const std::vector<double> after = evaluate(s, moved);
        for (Pair& pair : pairs_) {
          if (pair.input != input || pair.subsystem != s) continue;
          const double size = std::max(std::abs(before[pair.output]), std::abs(after[pair.output]));
          if (std::abs(after[pair.output] - before[pair.output]) > kRounding * size) pair.seen = true;
        }
      }
    }
  }

  std::vector<double> evaluate(SubsystemId s, const std::vector<double>& inputs) {
    std::vector<double> outputs(system().graph().outputs(), 0.0);
    system().evaluate_all(std::span(&s, 1), inputs, outputs);
    return outputs;
  }

  void look_during_a_run() {
    class Looks : public Observer {
     public:
      Looks(FeedthroughSearch& search, Duration interval) : search_(search), interval_(interval) {}
      void communicated(const Sample& sample, const RunSummary& summary) override {
        if (summary.macro_steps == 0 || sample.t < next_) return;
        next_ = sample.t + interval_;
        search_.look_at_linearizations();
      }

     private:
      FeedthroughSearch& search_;
      Duration interval_;
      Time next_ = -std::numeric_limits<Time>::infinity();
    };
    const Duration looked = kShareLooked * (run_.settings().stop - run_.settings().start);
    Looks looks(*this, looked / kLooks);
    run_.run(run_.settings().start + looked, nullptr, looks);
  }

  FoundFeedthrough result() {
    FoundFeedthrough found;
    const Graph& graph = system().graph();
    for (const Pair& pair : pairs_) {
      if (!pair.seen) {
        notes_.push_back({FactCode::FeedthroughNotSeen, {graph.name(pair.output), graph.name(pair.input)}});
      } else if (found.outputs.empty() || found.outputs.back() != pair.output) {
        found.outputs.push_back(pair.output);
      }
    }
    found.notes = std::move(notes_);
    return found;
  }

  RepeatedRun& run_;
  std::vector<Pair> pairs_;
  std::vector<Fact> notes_;
};

}  // namespace

FoundFeedthrough declared_feedthrough(const CoupledSystem& system) {
  FoundFeedthrough found;
  const Graph& graph = system.graph();
  for (std::size_t y = 0; y < graph.outputs(); ++y) {
    const OutputId output{y};
    for (const InputId input : graph.inputs_of(graph.owner(output))) {
      if (graph.source(input) == nullptr || !graph.feedthrough(output, input)) continue;
      found.outputs.push_back(output);
      break;
    }
  }
  return found;
}

FoundFeedthrough find_feedthrough(RepeatedRun& run) {
  return FeedthroughSearch(run).find();
}

}  // namespace entrain::learning
