#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "entrain/simulation.hpp"

namespace entrain::cli {

/// Checkpoint files of a run: written on the way, and gone on from.
struct CheckpointArguments {
  std::optional<std::string> file;
  std::optional<double> every;  ///< simulated s; empty = at the end alone
  std::optional<std::string> resumed;
  bool append = false;

  /// --checkpoint, --every, --resume, --append.
  void add(CLI::App& command);
  /// Throws Error where the run cannot be continued or written, before anything has happened.
  void check(const Simulation& simulation) const;
};

/// The system that a checkpoint file was written by.
SystemDescription described_by(const CheckpointInfo& checkpoint);

/// Writes the file at the first communication time at or after each multiple of the interval since the start. To be
/// observed last: what is recorded by then is part of it.
class CheckpointWriter : public Observer {
 public:
  /// Borrows the first two.
  CheckpointWriter(Simulation& simulation, const CheckpointArguments& arguments, std::string directory)
      : simulation_(simulation), arguments_(arguments), directory_(std::move(directory)) {}

  void communicated(const Sample& sample, const RunSummary& summary) override;
  void resume(const Sample& sample, const RunSummary& summary, std::span<const std::byte> memory) override;
  /// After the run: where the user interrupted it, or where it ended if no interval was given.
  void write_last(const RunSummary& summary, bool interrupted);

 private:
  void write();
  std::uint64_t multiples_until(Time t, const RunSummary& summary) const;

  Simulation& simulation_;
  const CheckpointArguments& arguments_;
  std::string directory_;
  std::uint64_t written_ = 0;  ///< multiples of the interval that have been passed
};

}  // namespace entrain::cli
