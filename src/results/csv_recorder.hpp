#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "results/row_file.hpp"
#include "results/selection.hpp"
#include "results/uniform_rows.hpp"

namespace entrain {

/// Writes results.csv while the run goes on: `time`, then one column per recorded signal, numbers as the shortest text
/// that reads back to the same double.
///
/// Without an interval: one row per communication time, cells empty where the subsystem did not communicate. With one:
/// rows on start + k interval, each signal interpolated between its own communication times.
class CsvRecorder : public Observer {
 public:
  /// Creates or empties the file; throws Error{FileFailed}.
  explicit CsvRecorder(std::filesystem::path file, RecordDescription record = {});

  /// Throws Error{InvalidSystem} for a pattern that matches nothing, and Error{FileFailed}.
  void begin(std::span<const Signal> signals, const RunSummary& summary) override;
  void communicated(const Sample& sample, const RunSummary& summary) override;
  void end(const RunSummary& summary) override;
  Needs needs() const override { return needs_; }

 private:
  void write_header(std::span<const Signal> signals);
  void write_grid_row();

  RowFile file_;
  RecordDescription record_;
  Needs needs_;
  std::vector<std::size_t> chosen_;      ///< signal of each column
  std::vector<std::size_t> subsystems_;  ///< subsystem of each column
  std::size_t row_bytes_ = 0;            ///< the longest a row can get
  std::unique_ptr<UniformRows> grid_;    ///< with an interval only
};

}  // namespace entrain
