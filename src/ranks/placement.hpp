#pragma once

#include <optional>
#include <utility>
#include <vector>

namespace entrain::ranks {

/// What a placement is made of.
struct PlacementTask {
  std::vector<double> seconds;            ///< of each subsystem, in one macro step; NaN = not known
  std::vector<std::optional<int>> given;  ///< the ranks of those that are placed by hand
  std::vector<std::pair<std::size_t, std::size_t>> connections;  ///< pairs of subsystems
  int ranks = 1;
};

/// The rank of each subsystem. The heaviest first, each to the rank with the least work; of ranks that are about equal,
/// to the one with most of those it is connected with. The longest rank takes at most 4/3 - 1/(3 n) of the best
/// possible (R. L. Graham, 1969), and 5 % more for the connections.
std::vector<int> placed(const PlacementTask& task);

/// Ranks without a subsystem.
std::vector<int> idle_ranks(const std::vector<int>& placement, int ranks);

}  // namespace entrain::ranks
