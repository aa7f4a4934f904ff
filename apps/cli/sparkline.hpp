#pragma once

#include <string>

#include "entrain/envelope.hpp"

namespace entrain::cli {

/// The course of a channel as a line of block characters, at most `width` of them: "▁▂▅█▆▃". Unknown values are spaces.
std::string sparkline(const Envelope& course, std::size_t channel, std::size_t width);

}  // namespace entrain::cli
