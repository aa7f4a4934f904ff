#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include "cli/common.hpp"
#include "cli/system_arguments.hpp"
#include "cli/table.hpp"
#include "cli/text_report.hpp"
#include "entrain/entrain.hpp"
#include "entrain/text.hpp"
#include "entrain/verification.hpp"

namespace entrain::cli {
namespace {

struct VerifyArguments : SystemArguments {
  RequiredGrade required = RequiredGrade::Trusted;
  int threads = 1;
  bool json = false;
};

std::string verification_text(const Verification& of) {
  Table table({"output", "order", "error bar", "of its range", "at most", "verdict"});
  for (std::size_t column = 1; column < 5; ++column) table.align_right(column);
  for (const auto& output : of.outputs) {
    table.add_row({output.name, output.order ? fmt::format("{:.2f}", *output.order) : "-",
                   output.error_bar ? short_number(*output.error_bar) : "-",
                   output.error_bar ? fmt::format("{:.2g} %", 100.0 * output.relative_error()) : "-",
                   output.error_bar ? fmt::format("{:.2g} %", 100.0 * output.relative_bound()) : "-",
                   std::string(to_string(output.verdict))});
  }
  auto text = fmt::format("{} with {}: runs at {} s, {} s and {} s\n{}", of.system, of.method, short_number(of.step),
                          short_number(of.step / 2), short_number(of.step / 4), table.text(2));
  const auto any = [&](OutputVerdict verdict) {
    return std::any_of(of.outputs.begin(), of.outputs.end(),
                       [&](const auto& output) { return output.verdict == verdict; });
  };
  if (any(OutputVerdict::NotConverging)) {
    text +=
        "  not converging: the differences between the runs do not fall with the step as an order would have it.\n"
        "  The step is too long for an error bar, or something jumps at a time that depends on it. Try a smaller "
        "step.\n";
  }
  if (any(OutputVerdict::StepTooLong)) {
    text += fmt::format(
        "  step too long: with {} s the error outgrows what the output itself does, as it does when a coupling is "
        "unstable. "
        "Try a smaller step.\n",
        short_number(of.step));
  }
  if (any(OutputVerdict::Negligible)) {
    text += "  negligible: moves less than 1e-9 of what others of the same unit do.\n";
  }
  if (any(OutputVerdict::NotSeen)) {
    text += "  not seen: the subsystem makes the same steps in all three runs, so that they agree proves nothing.\n";
  }
  for (const auto& doubt : of.doubts) text += "  not confirmed: " + render(doubt) + "\n";
  for (const auto& remark : of.remarks) text += "  " + render(remark) + "\n";
  return text;
}

/// Why the result is not trusted although every run completed and every output has a bar.
std::string beyond_tolerance_text(const Verification& of, const Tolerances& tolerances) {
  std::string text;
  for (const auto& output : of.outputs) {
    const double tolerance = tolerances.of(output.name);
    if (!output.error_bar || output.relative_bound() <= tolerance) continue;
    text += fmt::format("{} exceeds the tolerance: {:.2g} % > {:.2g} % of its range\n", output.name,
                        100.0 * output.relative_bound(), 100.0 * tolerance);
  }
  return text;
}

int run(const VerifyArguments& arguments) {
  const auto description = arguments.described();
  const auto tolerances = tolerances_of(description);
  const auto result = verify(description, {.threads = arguments.threads, .interrupt = &catch_signals()});
  const Grade grade = result.grade(tolerances);
  if (arguments.json) {
    print_exact(verification_json(result, grade));
  } else if (!result.failure) {
    print(verification_text(result));
    print(fmt::format("verdict: {}\n", grade_painted(result.headline(tolerances), grade, stdout_style())));
  }
  if (result.failure) {
    print_error(*result.failure);
    return kFailed;
  }
  if (const auto beyond = beyond_tolerance_text(result, tolerances); !beyond.empty()) print_error(beyond);
  return exit_code(grade, arguments.required);
}

}  // namespace

Command add_verify(CLI::App& program) {
  auto* command =
      add_subcommand(program, "verify", "Run at h, h/2 and h/4: observed order and error bar of every output",
                     "entrain verify examples/mechanical --method ifosmondi");
  const auto arguments = std::make_shared<VerifyArguments>();
  arguments->add_system(*command);
  arguments->add_method(*command);
  arguments->add_exclude(*command);
  arguments->add_tolerance(*command);
  add_require(*command, arguments->required);
  command->add_option("--threads", arguments->threads, "Threads; the results do not depend on them")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  command->add_flag("--json", arguments->json, "Print JSON");
  return {command, [arguments] { return run(*arguments); }};
}

}  // namespace entrain::cli
