#pragma once

#include <string_view>

namespace entrain {

/// Values of `record.format`.
inline constexpr std::string_view kCsvFormat = "csv";
inline constexpr std::string_view kHdf5Format = "hdf5";
inline constexpr std::string_view kMatFormat = "mat";

}  // namespace entrain
