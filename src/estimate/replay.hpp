#pragma once

#include <span>
#include <vector>

#include "entrain/variable.hpp"

namespace entrain::estimate {

/// The step that ends with times[k] crosses an event: it is far shorter than the one before.
bool crosses_event(std::span<const Time> times, std::size_t k);

/// Of so many steps one is made, between events; steps that cross one stay as they are.
std::vector<Time> merged_steps(std::span<const Time> times, std::size_t of);
/// Each step is divided into so many equal ones; those that cross an event stay as they are.
std::vector<Time> divided_steps(std::span<const Time> times, std::size_t into);

}  // namespace entrain::estimate
