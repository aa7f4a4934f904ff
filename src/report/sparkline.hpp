#pragma once

#include <string>

#include "results/envelope.hpp"

namespace entrain {

/// The course of a channel as a line of block characters, at most `width` of them: "▁▂▅█▆▃". Unknown values are spaces.
std::string sparkline(const Envelope& course, std::size_t channel, std::size_t width);

}  // namespace entrain
