#pragma once

#include <filesystem>

#include "results/recorded_results.hpp"

namespace entrain {

/// The formats that `read_results` chooses from; each throws Error{FileFailed} naming what makes no sense.
RecordedResults read_hdf5(const std::filesystem::path& file);
RecordedResults read_mat(const std::filesystem::path& file);

}  // namespace entrain
