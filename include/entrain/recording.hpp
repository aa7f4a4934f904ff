#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "entrain/export.hpp"
#include "entrain/results.hpp"
#include "entrain/simulation.hpp"

namespace entrain {

/// Writes chosen signals to a file while the run goes on. The run only copies numbers; formatting and writing happen on
/// another thread, which takes each row within a fraction of a second, also when no further row comes. Rows are on the
/// disk for good within about a second. CSV is written as it is; the other formats are made at the end, from a journal
/// FILE.journal that lies beside FILE until then (ADR 0051). `read_results` makes FILE of the journal of a killed run.
///
/// Without an interval: one row per communication time, unknown where the subsystem did not communicate. With one: rows
/// on start + k interval, each signal interpolated between its own communication times; what is no real number is held.
class ENTRAIN_API Recorder : public Observer {
 public:
  /// Creates or empties the file, in the format that `record` names, CSV where it names none. With `append` a run that
  /// is continued from a checkpoint file goes on in the rows of the file, which must be CSV. Throws Error{FileFailed}.
  explicit Recorder(const std::filesystem::path& file, RecordDescription record = {}, bool append = false);
  ~Recorder() override;
  Recorder(Recorder&&) noexcept;
  Recorder& operator=(Recorder&&) noexcept;

  /// Throws Error{InvalidSystem} for a pattern that matches nothing, and Error{FileFailed}.
  void begin(std::span<const Signal> signals, const RunSummary& summary) override;
  void communicated(const Sample& sample, const RunSummary& summary) override;
  void end(const RunSummary& summary) override;
  Needs needs() const override;
  /// Before the run: rows for which there is no room are dropped and counted, never waited for.
  void never_wait();
  std::uint64_t dropped_rows() const;
  /// Time of the last row that the file really contains, after the end or a failure.
  std::optional<Time> recorded_until() const;
  /// Of rows with an interval: those that are not complete. All others are in the file by then.
  std::vector<std::byte> memory() const override;
  void resume(const Sample& sample, const RunSummary& summary, std::span<const std::byte> memory) override;

 protected:
  struct Impl;
  explicit Recorder(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

/// Keeps in memory what a Recorder would write: the same rows, each signal at the times at which it is known.
class ENTRAIN_API ResultsRecorder : public Recorder {
 public:
  explicit ResultsRecorder(RecordDescription record = {});

  /// After the end of the run: what was recorded, which is given away.
  Results take();

 private:
  explicit ResultsRecorder(std::shared_ptr<Results> results, RecordDescription record);
  std::shared_ptr<Results> results_;
};

/// Recorded signals over time, column by column. NaN = not known at that time.
struct ENTRAIN_API Recording {
  std::vector<Time> times;
  std::vector<std::string> names;
  std::vector<std::vector<double>> columns;  ///< one per name, each as long as `times`

  /// Throws Error{InvalidSystem} for a name that was not recorded.
  const std::vector<double>& column(std::string_view name) const;
};

/// Keeps the values of chosen signals in memory, one row per communication time.
class ENTRAIN_API MemoryRecorder : public Observer, public Recording {
 public:
  /// All outputs.
  MemoryRecorder() = default;
  /// The signals that match one of the patterns, in which * stands for any characters.
  explicit MemoryRecorder(const std::vector<std::string>& patterns);

  /// Throws Error{InvalidSystem} for a pattern that matches nothing.
  void begin(std::span<const Signal> signals, const RunSummary& summary) override;
  void communicated(const Sample& sample, const RunSummary& summary) override;
  Needs needs() const override { return needs_; }

 private:
  std::optional<std::vector<Written<std::string>>> patterns_;
  std::vector<std::size_t> chosen_;
  std::vector<std::size_t> subsystems_;
  Needs needs_;
};

}  // namespace entrain
