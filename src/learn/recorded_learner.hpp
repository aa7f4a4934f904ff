#pragma once

#include <span>
#include <vector>

#include "base/grid.hpp"
#include "learn/learned_connections.hpp"
#include "learn/learning_law.hpp"
#include "learn/repeated_run.hpp"

namespace entrain::learning {

/// Learns from runs that were recorded. Borrows all.
class RecordedLearner {
 public:
  struct What {
    LearningLaw& law;
    std::span<const LearnedWire> wires;
  };
  RecordedLearner(RepeatedRun& run, const LearnOptions& options, const LearnProgress& progress, What what);

  /// `runs`: at least one, the newest last.
  LearnResult learn(std::span<const RecordedRun> runs);

 private:
  /// Runs with the same corrections.
  struct Group {
    RecordedRows mean;
    std::vector<double> corrections;
    std::vector<RecordedRows> runs;
  };
  struct Read {
    RecordedRows rows;
    std::vector<double> corrections;
  };
  Read read(const RecordedRun& run) const;
  std::vector<double> column(const RecordedRun& run, const Results::Column& column, std::size_t rows) const;
  std::size_t rows_of(const RecordedRun& run) const;
  std::vector<double> applied(const RecordedRun& run, std::size_t steps) const;
  void complete_inputs(const RecordedRun& run, Read& read, const std::vector<bool>& recorded) const;
  bool same_corrections(const Group& group, const Read& read) const;
  void judge(const RecordedRows& rows, const std::vector<double>& corrections, bool last_of_group);
  void measure_noise(const Group& group);
  void note(Fact fact);

  std::size_t numbers() const { return law_.numbers(); }

  RepeatedRun& run_;
  const LearnOptions& options_;
  const LearnProgress& progress_;
  LearningLaw& law_;
  std::span<const LearnedWire> wires_;
  const Graph& graph_;
  base::Grid grid_;
  LearnResult result_;
};

}  // namespace entrain::learning
