#pragma once

#include <filesystem>

namespace entrain::control {

/// Sockets in the folder of a run, however long its path is. The descriptors are the caller's; negative: errno has why.
int listen_in(const std::filesystem::path& folder) noexcept;
int connect_to(const std::filesystem::path& folder) noexcept;
void remove_socket(const std::filesystem::path& folder) noexcept;

}  // namespace entrain::control
