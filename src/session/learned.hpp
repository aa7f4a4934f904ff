#pragma once

#include <optional>
#include <string>
#include <vector>

#include "entrain/learning.hpp"
#include "entrain/method.hpp"
#include "run/correction_schedule.hpp"

namespace entrain::session {

/// The options of the learnable method that repeated runs, and runs corrected by what they learned, have in common:
/// held inputs and macro steps of one size, so that one number per macro step and input is all there is to learn.
const std::map<std::string, OptionValue>& options_of_learning();

/// What Learned::description contains of a system: a line per value, with the table it stands in.
std::vector<std::string> description_lines(const SystemDescription& description);

/// The corrections of a run of this system. Throws Error{InvalidSystem} when they were learned for another one.
running::CorrectionSchedule scheduled(const Learned& learned, const SystemDescription& description,
                                      const CoupledSystem& system, const RunSettings& settings);

/// On a bench: the outputs that these corrections expect. Nullopt where the system is none, or nothing is known.
std::optional<running::CorrectionSchedule::Guard> guard_of(const Learned& learned, CoupledSystem& system, bool paced);

/// Of polynomials with so many coefficients: what the subsystems make of them. One that holds its inputs over steps of
/// its own takes constants.
running::CorrectionSchedule::Waveforms waveforms_of(const CoupledSystem& system, Duration step, std::size_t orders);

}  // namespace entrain::session
