#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/common.hpp"
#include "cli/text_report.hpp"
#include "entrain/inspection.hpp"

namespace entrain::cli {
namespace {

/// "explicit, order 1 + degree; 1 call of each subsystem per macro step".
std::string traits_text(const MethodTraits& traits) {
  auto text = std::string(to_string(traits.family));
  if (traits.family == MethodFamily::Reference) return text;  // it has neither macro steps nor coupling errors
  text += fmt::format(", order {}{}", traits.order, traits.knobs.degree.empty() ? "" : " + degree");
  if (traits.family != MethodFamily::Asynchronous) {
    text += fmt::format("; {}{:g} call{} of each subsystem per macro step", traits.calls_per_step > 1.0 ? "about " : "",
                        traits.calls_per_step, traits.calls_per_step > 1.0 ? "s" : "");
  }
  return text + (traits.patent_declared ? "; its authors declare a pending patent (NOTICE)" : "");
}

}  // namespace

Command add_methods(CLI::App& program) {
  auto* command = add_subcommand(program, "methods", "List the coupling methods and their options", "entrain methods");
  return {command, [] {
            print(fmt::format("{}: chosen for the system, with its step, to keep [run] tolerance (the default)\n\n",
                              default_method()));
            for (const auto& [traits, options] : methods()) {
              print(fmt::format("{}: {}\n  {}\n{}\n", traits.name, traits.summary, traits_text(traits),
                                options_text(options)));
            }
            return kDone;
          }};
}

}  // namespace entrain::cli
