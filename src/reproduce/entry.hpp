#pragma once

#include <string>
#include <vector>

#include "entrain/reproduce.hpp"

namespace entrain::reproducing {

/// A table or figure of a paper. `rows` runs the shipped systems.
struct ReproduceEntry {
  std::string id;
  std::string title;
  std::vector<ReproduceRow> (*rows)(const Examples& examples);
};

// One function per paper, each in the file of its name.
std::vector<ReproduceEntry> missiles_entries();
std::vector<ReproduceEntry> costarica_entries();
std::vector<ReproduceEntry> f3ornits_entries();
std::vector<ReproduceEntry> quality_entries();
std::vector<ReproduceEntry> quality_run_entries();
std::vector<ReproduceEntry> learning_entries();

/// How near we must come, and why.
struct Tolerance {
  double relative;
  std::string reason;
  bool smaller_is_better = false;  ///< for errors that may beat the reference
};

/// Which side of a printed number is better.
enum class Better { Neither, Smaller, Larger };

/// Ok when ours lies within the tolerance of the verified reference, or below it where smaller is better.
ReproduceRow compared(std::string quantity, std::optional<double> paper, double reference, double ours,
                      const Tolerance& tolerance, Better better = Better::Neither);

}  // namespace entrain::reproducing
