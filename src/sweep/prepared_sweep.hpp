#pragma once

#include <filesystem>
#include <vector>

#include "entrain/sweep.hpp"
#include "sweep/case_runner.hpp"
#include "sweep/quantities.hpp"
#include "sweep/sampling.hpp"
#include "sweep/sweep_folder.hpp"
#include "sweep/uncertainty.hpp"

namespace entrain::sweeping {

/// A sweep before its first case: the same in every process that takes part. Its stages: made (the cases are known),
/// adopted (what a look at the system found holds for all cases).
class PreparedSweep {
 public:
  /// Plans the cases. Throws Error with every problem. Borrows `extensions`.
  PreparedSweep(SystemDescription description, SweepOptions options, const Extensions& extensions);
  PreparedSweep(const PreparedSweep&) = delete;
  PreparedSweep& operator=(const PreparedSweep&) = delete;

  /// In a process of its own, which loads the FMUs: this one never does. Throws Error where that ends without an
  /// answer.
  SweepLook look() const;
  /// Throws Error with every problem that was found.
  void adopt(SweepLook found);

  const SweepOptions& options() const { return options_; }
  const SystemDescription& description() const { return description_; }
  const Extensions& extensions() const { return extensions_; }
  const SweepPlan& plan() const { return plan_; }
  bool is_interrupted() const { return options_.interrupt != nullptr && options_.interrupt->load(); }

  /// Of an adopted one. Reads and hashes every file that goes in.
  SweepNote note() const;
  /// Of an adopted one; borrows it. `folder`: absolute.
  CaseContext context(std::filesystem::path folder) const;

 private:
  std::vector<double> course_times() const;

  SystemDescription description_;
  SweepOptions options_;
  const Extensions& extensions_;
  SweepPlan plan_;
  SweepLook found_;
  std::vector<Quantity> quantities_;
  std::vector<double> times_;
};

/// Throws Error with all that are no warnings.
void refuse_problems(SweepLook& found);

/// In the place of that of a shard.
void hash_reference(SweepNote& note, const std::filesystem::path& file);

}  // namespace entrain::sweeping
