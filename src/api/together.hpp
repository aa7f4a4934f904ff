#pragma once

#include "advise/choose_method.hpp"
#include "entrain/ranks.hpp"
#include "entrain/simulation.hpp"

// What ranks of one run decide together, before time zero (docs/adr/0081).

namespace entrain::api {

/// advising::choose_method; of several ranks in the first one, for all. Where subsystems are to be placed, they are
/// then.
advising::MethodChoice choose_together(const SystemDescription& description, const Extensions& extensions,
                                       const advising::SearchBudget& budget, const RunOptions& options);

/// All ranks run the same system, with the same FMUs and tables, or it is refused with the first difference. FMUs are
/// unpacked, once per node. Returns what is worth knowing about the ranks.
std::vector<Fact> agree(Ranks& ranks, const SystemDescription& description, const Extensions& extensions,
                        const RunOptions& options);

/// Of the run that ended: the work of each rank. Empty of one process, and when the ranks have parted.
std::vector<RankSummary> rank_summaries(Ranks& ranks, const SystemDescription& description);

/// After that: of the notes about calls that took long the longest of all ranks is left.
void share_longest_call(Ranks& ranks, RunSummary& summary);

}  // namespace entrain::api
