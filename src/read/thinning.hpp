#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "entrain/variable.hpp"

namespace entrain::reading {

/// Which of many samples are drawn: of each of many spans the first, the lowest, the highest and the last, and one that
/// is not finite if there is such. No extreme and no gap is lost. Spans are short where straight lines between these
/// would be far from the samples. At most `most`, in their order; all when there are not more.
std::vector<std::size_t> drawn_samples(std::span<const Time> times, std::span<const double> values, std::size_t most);

}  // namespace entrain::reading
