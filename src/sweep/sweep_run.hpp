#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <vector>

#include "record/run_folder.hpp"
#include "sweep/case_pool.hpp"
#include "sweep/prepared_sweep.hpp"
#include "sweep/table.hpp"

namespace entrain::sweeping {

/// A sweep in its folder: hands out its cases and writes down what comes back.
class SweepRun {
 public:
  /// Of an adopted sweep; borrows it. Opens the folder, and keeps what it contains of this sweep. Throws
  /// Error{FileFailed}, and Error{InvalidSystem} for a folder that contains another one.
  SweepRun(const PreparedSweep& sweep, SweepNote note);

  const std::filesystem::path& folder() const { return result_.folder; }
  /// All cases that are missing, then all files. Throws Error{FileFailed} for a fault of the machine.
  SweepResult run(CasePool& pool);

 private:
  using Clock = std::chrono::steady_clock;

  std::filesystem::path free_folder() const;
  void open_files();
  void run_cases(CasePool& pool);
  void hand_out(CasePool& pool);
  void take_end(const CasePool& pool, CaseEnd& end);
  void add(CaseAnswer answer, std::size_t rank);
  void report() const;
  [[noreturn]] void end_in_order();
  void complete_files();

  const PreparedSweep& sweep_;
  const SweepOptions& options_;
  SweepNote note_;
  MeasuredValues reference_;
  SweepResult result_;
  Courses courses_;
  std::optional<recording::RunFolderLock> lock_;
  std::optional<AppendedFile> rows_, course_records_;
  std::optional<CaseContext> context_;
  std::vector<std::size_t> left_;       ///< the next one last
  std::size_t under_way_ = 0;           ///< handed out
  std::set<std::size_t> killed_;        ///< cases whose process was killed once
  std::vector<SweepRank> made_;         ///< by rank: cases and their seconds
  std::optional<Error> machine_fault_;  ///< ends the sweep; the case is no row
  std::size_t kept_ = 0, total_ = 0;
  Clock::time_point began_;
};

void create_folder(const std::filesystem::path& folder);
/// True of a folder that contains this sweep, false of a free one. What is no sweep is never written over.
bool contains_sweep(const std::filesystem::path& folder, const SweepNote& note);
Error other_sweep(const std::filesystem::path& folder);

}  // namespace entrain::sweeping
