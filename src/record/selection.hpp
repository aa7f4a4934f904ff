#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "entrain/simulation.hpp"

namespace entrain::recording {

/// What the user asked to be recorded: patterns of signal names; nullopt = all outputs, and of
/// subsystems that have none their states and locals.
using SignalPatterns = std::optional<std::vector<Written<std::string>>>;

/// '*' stands for any run of characters, also none.
bool matches(std::string_view pattern, std::string_view name);

/// Indices of the signals to record: outputs in their order, then inputs, states, locals and parameters in theirs.
/// A '*' for the whole name of a variable leaves locals and parameters out, '**' does not. A name appears once (an
/// output that is a state is the output). Throws Error{InvalidSystem} naming every pattern that matches nothing.
std::vector<std::size_t> select_signals(std::span<const Signal> signals, const SignalPatterns& patterns);

}  // namespace entrain::recording
