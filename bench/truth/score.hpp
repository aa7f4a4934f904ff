#pragma once

#include <string>
#include <vector>

#include "budget.hpp"
#include "truth/measure.hpp"

namespace entrain::truth {

/// Prints the tables of all runs and checks them: per path the confusion of grade and true error, claimed / true, and
/// the runs that are furthest from the truth. `hard_only`: the rest is printed, too, but its budgets are not checked.
void print_scores(const std::vector<MeasuredRun>& runs, bench::Budgets& budgets, bool hard_only);

/// A line per output of every run.
void write_csv(const std::vector<MeasuredRun>& runs, const std::string& file);

}  // namespace entrain::truth
