#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "entrain/sweep.hpp"
#include "sweep/table.hpp"
#include "sweep/uncertainty.hpp"

namespace entrain::sweeping {

/// What a folder says about the sweep that it holds, or a part of: sweep.json.
struct SweepNote {
  std::string identity;  ///< a hash of system, files, cases and quantities: what makes two sweeps the same
  std::string system;
  SweepSampling sampling = SweepSampling::Grid;
  std::size_t cases = 0, base_cases = 0;
  std::size_t part = 0;               ///< cases that are to be made in the folder
  std::size_t shard = 0, shards = 1;  ///< which these are
  bool estimated = true;
  TableShape shape;
  std::vector<std::pair<std::string, std::string>> signals;  ///< of the quantities, with their units
  std::vector<double> times;                                 ///< of the courses; empty = none are kept
  std::vector<std::pair<std::string, std::string>> hashes;

  std::size_t course_size() const { return signals.size() * times.size(); }
  /// A result without cases.
  SweepResult result(const std::filesystem::path& folder) const;
};

bool is_completed(const SweepCase& row);

std::filesystem::path note_file(const std::filesystem::path& folder);
std::filesystem::path cases_file(const std::filesystem::path& folder);
std::filesystem::path courses_file(const std::filesystem::path& folder);

void write_note(const std::filesystem::path& folder, const SweepNote& note);
/// Throws Error{FileFailed}.
SweepNote read_note(const std::filesystem::path& folder);

/// Of a result with its cases: everything that follows from them, and all files. An interruption leaves out the Sobol
/// indices, and is one of the result.
void complete(SweepResult& result, const SweepNote& note, const Courses& courses, const MeasuredValues& reference,
              bool page, const std::atomic<bool>* interrupt = nullptr);

/// sweep.json of a result. `finished`: all files are written.
std::string note_text(const SweepResult& result, const SweepNote& note, bool finished);

}  // namespace entrain::sweeping
