#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <optional>

#include "cli/common.hpp"
#include "cli/examples.hpp"
#include "cli/table.hpp"
#include "cli/text_report.hpp"
#include "entrain/report.hpp"
#include "entrain/reproduce.hpp"
#include "entrain/text.hpp"

namespace entrain::cli {
namespace {

struct ReproduceArguments {
  std::vector<std::string> ids;
  std::string fmu;  ///< empty = the models
  std::optional<std::string> report;
  bool json = false;
};

std::string reference_text(const ReproduceRow& row) {
  const auto number = short_number(row.reference);
  return row.reference_is == ReproduceReference::Verified ? number
                                                          : fmt::format("{} ({})", number, to_word(row.reference_is));
}

std::string result_text(const ReproduceResult& result) {
  Table table({"quantity", "paper", "reference", "ours", "printed", "verdict"});
  for (std::size_t column = 1; column < 4; ++column) table.align_right(column);
  for (const auto& row : result.rows) {
    table.add_row({row.quantity, row.paper ? short_number(*row.paper) : "-", reference_text(row),
                   short_number(row.ours), std::string(to_word(row.printed)), verdict_text(row.ok, stdout_style())});
  }
  auto text = fmt::format("{}: {}\n{}", result.id, result.title, table.text(2));
  for (const auto& row : result.rows) {
    if (!row.ok) text += fmt::format("  off: {} (tolerance {}: {})\n", row.quantity, row.tolerance, row.reason);
  }
  if (result.measurements.empty()) return text + '\n';
  Table measured({"measured, not judged", "paper", "ours"});
  for (const std::size_t column : {1U, 2U}) measured.align_right(column);
  for (const auto& of : result.measurements) {
    measured.add_row({of.quantity, of.paper ? short_number(*of.paper) : "-", short_number(of.ours)});
  }
  return text + '\n' + measured.text(2) + '\n';
}

/// "200 rows: 120 against verified values, 30 against printed ones, 40 against bounds, 10 against our own"
std::string rows_text(const std::vector<ReproduceResult>& results) {
  std::size_t rows = 0;
  std::map<ReproduceReference, std::size_t> against;
  for (const auto& result : results) {
    rows += result.rows.size();
    for (const auto& row : result.rows) ++against[row.reference_is];
  }
  return fmt::format(
      "{} rows: {} against verified values, {} against printed ones, {} against bounds, {} against our own\n", rows,
      against[ReproduceReference::Verified], against[ReproduceReference::Printed], against[ReproduceReference::Bound],
      against[ReproduceReference::Ours]);
}

std::string counts_text(const std::vector<ReproduceResult>& results) {
  const PrintedCounts counts = printed_counts(results);
  double seconds = 0.0;
  for (const auto& result : results) seconds += result.seconds;
  return fmt::format(
             "printed numbers: {}, of which {} are beaten, {} met (within 5 %), {} not met, {} not comparable; each "
             "counts once, by the best of its rows\n",
             counts.numbers(), counts.beaten, counts.met, counts.not_met, counts.not_comparable) +
         rows_text(results) + fmt::format("time: {:.1f} s\n", seconds);
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
  if (arguments.report) require_pages();
  const auto ids = wanted_ids(arguments.ids);
  const Examples examples{find_examples(), fmus_asked_for(arguments.fmu)};
  const std::string models = arguments.fmu.empty() ? "native" : "fmu " + arguments.fmu;
  bool ok = true;
  std::vector<ReproduceResult> results;
  for (const auto& id : ids) {
    results.push_back(
        reproduce(id, examples, {.measurements = arguments.fmu.empty(), .figures = arguments.report.has_value()}));
    ok = ok && results.back().ok();
    if (!arguments.json) print(result_text(results.back()));
  }
  if (arguments.json) {
    print_exact(reproduce_json(results, models));
  } else {
    print(counts_text(results));
  }
  if (arguments.report) {
    write_reproduction_page(results, models, *arguments.report);
    if (!arguments.json) print(fmt::format("report: {}\n", *arguments.report));
  }
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
  command
      ->add_option("--report", arguments->report,
                   "Write a page with the figures of the papers and ours over them (default: reproduction.html)")
      ->type_name("FILE")
      ->expected(0, 1)
      ->default_str("reproduction.html");
  command->add_flag("--json", arguments->json, "Print JSON");
  return {command, [arguments] { return reproduce_ids(*arguments); }};
}

}  // namespace entrain::cli
