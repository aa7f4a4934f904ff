#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace entrain {

/// Which of many samples are drawn: of spans of equally many, the first, the lowest, the highest and the last, and one
/// that is not finite if there is such. No extreme and no gap is lost. At most about `most`, in their order; all when
/// there are not more.
std::vector<std::size_t> drawn_samples(std::span<const double> values, std::size_t most);

}  // namespace entrain
