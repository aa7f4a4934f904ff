#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

#include "entrain/results.hpp"

namespace entrain::reporting {

/// One curve of a page; borrows the results.
struct DrawnSignal {
  const Results* results = nullptr;
  std::size_t column = 0;
  std::optional<std::size_t> run;  ///< in a page with several
  bool difference = false;         ///< to the reference of that page
  std::size_t samples = 0;         ///< that were recorded, where the results hold fewer
};

/// Curves for a page: doubles as base64, so that a value under the cursor is the recorded one to the last bit; floats
/// for differences, where seven digits are enough. Thinned to what fits in `room` characters; signals beyond
/// what can be drawn well are counted in "left_out".
nlohmann::ordered_json packed_signals(const std::vector<DrawnSignal>& signals, std::size_t room);

}  // namespace entrain::reporting
