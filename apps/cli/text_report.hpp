#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "entrain/options.hpp"
#include "entrain/run_summary.hpp"
#include "entrain/verdict.hpp"

namespace entrain::cli {

/// How text is written for people. Colour only on a terminal that shows it.
struct TextStyle {
  bool colour = false;
};

/// How the run ended: the grade, the worst outputs with their errors, the first warnings; some twelve lines. An
/// unreliable result is not shown as a success.
std::string brief_summary(const RunSummary& summary, const Verdict& verdict, const ErrorEstimate& estimate,
                          TextStyle style = {});
/// Method, steps, speed, residuals, all notes and warnings, and a table of the subsystems.
std::string full_summary(const RunSummary& summary, TextStyle style = {}, Grade grade = Grade::Trusted);

/// Inputs, outputs, states and parameters of a subsystem, one per line.
std::string variables_text(const VariableTable& variables);
/// "can be rolled back: yes", one per line.
std::string capabilities_text(const Capabilities& capabilities, const VariableTable& variables);
/// "1. a.x, b.y", one group per line; `none` when there is no group.
std::string groups_text(const std::vector<std::vector<std::string>>& groups, std::string_view none);
std::string options_text(std::span<const OptionHelp> options);

/// In the colour of the grade.
std::string grade_painted(std::string_view text, Grade grade, TextStyle style);
/// "ok" or "off", coloured when asked.
std::string verdict_text(bool ok, TextStyle style = {});

}  // namespace entrain::cli
