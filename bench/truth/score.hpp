#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "budget.hpp"
#include "truth/measure.hpp"

namespace entrain::truth {

/// Prints the tables of all runs and checks them: per path the confusion of grade and true error, claimed / true, and
/// the runs that are furthest from the truth. `hard_only`: the rest is printed, too, but its budgets are not checked.
void print_scores(const std::vector<MeasuredRun>& runs, bench::Budgets& budgets, bool hard_only);

/// All runs of a system: a line per output of each, and one that the system is done. Whole systems, so that a long
/// measurement can be ended anywhere and continued.
void append_csv(std::span<const MeasuredRun> runs, const std::string& system, const std::string& file);
/// What such a file has of whole systems, and which. None where there is no file.
std::vector<MeasuredRun> read_csv(const std::string& file, std::set<std::string>& done);

}  // namespace entrain::truth
