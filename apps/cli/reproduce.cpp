#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/common.hpp"
#include "cli/examples.hpp"
#include "cli/table.hpp"
#include "cli/text_report.hpp"
#include "entrain/reproduce.hpp"
#include "entrain/text.hpp"

namespace entrain::cli {
namespace {

struct ReproduceArguments {
  std::vector<std::string> ids;
  std::string fmu;  ///< empty = the models
  bool json = false;
};

std::string result_text(const ReproduceResult& result) {
  Table table({"quantity", "paper", "reference", "ours", "printed", "verdict"});
  for (std::size_t column = 1; column < 4; ++column) table.align_right(column);
  for (const auto& row : result.rows) {
    const auto reference = short_number(row.reference) + (row.reference_is_ours ? " (ours)" : "");
    table.add_row({row.quantity, row.paper ? short_number(*row.paper) : "-", reference, short_number(row.ours),
                   std::string(to_string(row.printed)), verdict_text(row.ok, stdout_style())});
  }
  auto text = fmt::format("{}: {}\n{}", result.id, result.title, table.text(2));
  for (const auto& row : result.rows) {
    if (!row.ok) text += fmt::format("  off: {} (tolerance {}: {})\n", row.quantity, row.tolerance, row.reason);
  }
  return text + '\n';
}

/// "printed numbers: 40 met, 20 beaten, 4 not met; 130 rows are not printed"
std::string counts_text(const std::vector<ReproduceResult>& results) {
  const auto count = [&](PrintedNumber printed) {
    std::size_t sum = 0;
    for (const auto& result : results) sum += result.count(printed);
    return sum;
  };
  return fmt::format("printed numbers: {} met (within 5 %), {} beaten, {} not met; {} rows are not printed\n",
                     count(PrintedNumber::Met), count(PrintedNumber::Beaten), count(PrintedNumber::NotMet),
                     count(PrintedNumber::NotComparable));
}

int list_entries(bool json) {
  const auto entries = reproduce_entries();
  Table table({"id", "title"});
  for (const auto& [id, title] : entries) table.add_row({id, title});
  json ? print_exact(reproduce_json(entries)) : print(table.text());
  return kDone;
}

/// The ids asked for, `all` spelled out. Throws CLI::ValidationError (wrong usage) for an unknown one.
std::vector<std::string> wanted_ids(const std::vector<std::string>& asked) {
  std::vector<std::string> known;
  for (const auto& entry : reproduce_entries()) known.push_back(entry.first);
  if (std::find(asked.begin(), asked.end(), "all") != asked.end()) return known;
  for (const auto& id : asked) {
    if (std::find(known.begin(), known.end(), id) != known.end()) continue;
    throw CLI::ValidationError(fmt::format("nothing to reproduce is called '{}'; {}", id, suggestion(id, known)));
  }
  return asked;
}

/// "2", "3": the version of FMI; "2-me", "3-me": by model exchange.
FmuSet fmus_asked_for(const std::string& which) {
  if (which.empty()) return {};
  return {find_fmus() / which.substr(0, 1), which.size() > 1};
}

int reproduce_ids(const ReproduceArguments& arguments) {
  if (arguments.ids.empty()) return list_entries(arguments.json);
  const auto ids = wanted_ids(arguments.ids);
  const Examples examples{find_examples(), fmus_asked_for(arguments.fmu)};
  bool ok = true;
  std::vector<ReproduceResult> results;
  for (const auto& id : ids) {
    results.push_back(reproduce(id, examples));
    ok = ok && results.back().ok();
    if (!arguments.json) print(result_text(results.back()));
  }
  if (!arguments.json) print(counts_text(results));
  if (arguments.json) print_exact(reproduce_json(results, arguments.fmu.empty() ? "native" : "fmu " + arguments.fmu));
  return ok ? kDone : kFailed;
}

}  // namespace

Command add_reproduce(CLI::App& program) {
  auto* command = add_subcommand(program, "reproduce", "Repeat the tables of the papers and compare",
                                 "entrain reproduce missiles.table4");
  const auto arguments = std::make_shared<ReproduceArguments>();
  command->add_option("ID", arguments->ids, "What to reproduce, or 'all'; without: the list")->type_name("");
  command
      ->add_flag("--fmu{2}", arguments->fmu,
                 "Run the FMUs of the models instead: FMI 2, or --fmu=3, 2-me, 3-me (by model exchange); the "
                 "reference stays as it is")
      ->check(CLI::IsMember({"2", "3", "2-me", "3-me"}));
  command->add_flag("--json", arguments->json, "Print JSON");
  return {command, [arguments] { return reproduce_ids(*arguments); }};
}

}  // namespace entrain::cli
