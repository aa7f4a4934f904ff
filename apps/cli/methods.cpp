#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/common.hpp"
#include "cli/table.hpp"
#include "cli/text_report.hpp"
#include "entrain/inspection.hpp"
#include "entrain/text.hpp"

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

constexpr std::string_view kAutoSummary = "the default: one of these, with its step, chosen to keep [run] tolerance";

int list_methods() {
  Table table({"method", "what it does"});
  table.add_row({std::string(default_method()), std::string(kAutoSummary)});
  for (const auto& method : methods()) table.add_row({std::string(method.traits.name), method.traits.summary});
  print(table.text());
  print("'entrain methods NAME': order, calls and options of one\n");
  return kDone;
}

int show_method(const std::string& name) {
  std::vector<std::string> names{std::string(default_method())};
  if (name == default_method()) {
    print(fmt::format("{}: {}; see 'entrain advise'\n", name, kAutoSummary));
    return kDone;
  }
  for (const auto& [traits, options] : methods()) {
    names.emplace_back(traits.name);
    if (traits.name != name) continue;
    print(fmt::format("{}: {}\n  {}\n{}", traits.name, traits.summary, traits_text(traits), options_text(options)));
    return kDone;
  }
  print_error(fmt::format("unknown method '{}'; {}", name, suggestion(name, names)));
  return kWrongUsage;
}

}  // namespace

Command add_methods(CLI::App& program) {
  auto* command = add_subcommand(program, "methods", "List the coupling methods, or show one with its options",
                                 "entrain methods jacobi");
  const auto name = std::make_shared<std::string>();
  command->add_option("NAME", *name, "The method to show (default: one line for each)")->type_name("");
  return {command, [name] { return name->empty() ? list_methods() : show_method(*name); }};
}

}  // namespace entrain::cli
