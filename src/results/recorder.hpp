#pragma once

#include <memory>
#include <vector>

#include "results/background_writer.hpp"
#include "results/held_values.hpp"
#include "results/results_file.hpp"
#include "results/selection.hpp"
#include "results/uniform_rows.hpp"

namespace entrain {

/// Writes chosen signals to a file while the run goes on. The run only copies numbers; formatting and writing happen on
/// another thread, about once a second or when a block is full.
///
/// Without an interval: one row per communication time, unknown where the subsystem did not communicate. With one: rows
/// on start + k interval, each signal interpolated between its own communication times; what is no real number is held.
class Recorder : public Observer {
 public:
  explicit Recorder(std::unique_ptr<ResultsFile> file, RecordDescription record = {});

  /// Throws Error{InvalidSystem} for a pattern that matches nothing, and Error{FileFailed}.
  void begin(std::span<const Signal> signals, const RunSummary& summary) override;
  void communicated(const Sample& sample, const RunSummary& summary) override;
  void end(const RunSummary& summary) override;
  Needs needs() const override { return needs_; }
  /// Of rows with an interval: those that are not complete. All others are in the file by then.
  std::vector<std::byte> memory() const override;
  void resume(const Sample& sample, const RunSummary& summary, std::span<const std::byte> memory) override;

 private:
  RecordedLayout layout_of(std::span<const Signal> signals, const RunSummary& summary);
  RowBlock::Row add_row(Time t);
  void add_grid_row();
  std::vector<Value> chosen_discrete(const Sample& sample) const;
  void write_discrete(std::span<const Value> values, const RowBlock::Row& row) const;

  std::unique_ptr<ResultsFile> file_;
  RecordDescription record_;
  Needs needs_;
  std::vector<std::size_t> chosen_;            ///< signal of each column
  std::vector<std::size_t> discrete_;          ///< of the columns that are no real numbers: index in Sample::discrete
  std::vector<std::size_t> discrete_columns_;  ///< the columns
  HeldValues held_;                            ///< of them, with an interval only
  std::vector<std::size_t> group_subsystems_;  ///< subsystem of each group
  std::vector<std::size_t> group_columns_;     ///< one column of each group
  std::unique_ptr<UniformRows> grid_;          ///< with an interval only
  std::unique_ptr<BackgroundWriter> writer_;
  std::int64_t handed_over_at_ = 0;  ///< coarse monotonic clock, ns
};

}  // namespace entrain
