#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "entrain/fact.hpp"

namespace entrain::base {

/// What is wrong with a name that has one.
inline constexpr std::string_view kControlCharacter = "control character";

/// What must be known of an archive before a library reads it: libzip takes seconds and hundreds of megabytes for a
/// million entries, shows a name that holds a zero byte as if it had none, and does not notice entries that share
/// bytes. Returns why the archive is refused, without its name; nullopt when nothing speaks against it, also when its
/// directory is not found: then it is no archive.
std::optional<Fact> fault_of_directory(const std::filesystem::path& archive, std::uint64_t most_entries);

}  // namespace entrain::base
