#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "entrain/fact.hpp"

namespace entrain::base {

/// What is known of an allocation that failed: `function` of foreign code it was in, the bytes that were requested, the
/// bytes that the process uses.
Fact out_of_memory(std::string_view function = {});

/// Of the process, in bytes; 0 = not known.
std::uint64_t memory_in_use();

}  // namespace entrain::base
