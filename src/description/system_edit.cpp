#include "entrain/system_edit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "description/toml_document.hpp"
#include "description/toml_layout.hpp"
#include "description/toml_text.hpp"
#include "entrain/error.hpp"

namespace entrain {
namespace {

using description::LaidKey;
using description::LaidTable;
using description::TextSpan;

constexpr std::string_view kConnections = "connections";

/// A text with the places of what is in it, and changes that are collected and made at once.
class EditedText {
 public:
  explicit EditedText(std::string_view text) : text_(text) {
    std::vector<Problem> problems;
    if (!description::parse_toml(text, "", problems)) throw Error(std::move(problems));
    tables_ = description::layout_of(text);
  }

  const std::vector<LaidTable>& tables() const { return tables_; }
  std::string_view text() const { return text_; }
  char at(std::size_t place) const { return place < text_.size() ? text_[place] : '\0'; }

  void replace(TextSpan span, std::string with) { changes_.push_back({span, std::move(with)}); }
  void insert(std::size_t place, std::string what) { replace({place, place}, std::move(what)); }
  /// A line of its own, after the line that ends at `place`.
  void insert_line(std::size_t place, const std::string& line) {
    const bool is_open = place > 0 && at(place - 1) != '\n';  // the last line has no end
    insert(place, (is_open ? "\n" : "") + line + "\n");
  }

  std::string result() {
    std::stable_sort(changes_.begin(), changes_.end(),
                     [](const Change& a, const Change& b) { return a.span.begin < b.span.begin; });
    std::string text;
    std::size_t done = 0;
    for (const auto& [span, with] : changes_) {
      if (span.begin < done) continue;  // inside of something that is gone
      text.append(text_.substr(done, span.begin - done)).append(with);
      done = span.end;
    }
    return text.append(text_.substr(done));
  }

 private:
  struct Change {
    TextSpan span;
    std::string with;
  };
  std::string_view text_;
  std::vector<LaidTable> tables_;
  std::vector<Change> changes_;
};

bool begins_with(const KeyPath& path, const KeyPath& first) {
  return path.size() >= first.size() && std::equal(first.begin(), first.end(), path.begin());
}

KeyPath joined_path(KeyPath first, const KeyPath& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

KeyPath rest_of(const KeyPath& path, std::size_t from) {
  return {path.begin() + static_cast<std::ptrdiff_t>(from), path.end()};
}

/// The key whose path is the longest beginning of `path`, in tables or in braces.
struct FoundKey {
  LaidKey key;
  KeyPath rest;                    ///< what is left of the path
  std::vector<LaidKey> siblings;   ///< in braces
  std::optional<TextSpan> braces;  ///< that it stands in
};

std::optional<FoundKey> find_among(std::string_view text, const std::vector<LaidKey>& keys, const KeyPath& path,
                                   std::optional<TextSpan> braces) {
  for (const auto& key : keys) {
    if (!begins_with(path, key.path)) continue;
    KeyPath rest = rest_of(path, key.path.size());
    if (!rest.empty() && text[key.value.begin] == '{') {
      auto inner = find_among(text, description::keys_in_braces(text, key.value), rest, key.value);
      if (inner) return inner;
    }
    return FoundKey{key, std::move(rest), braces ? keys : std::vector<LaidKey>(), braces};
  }
  return std::nullopt;
}

std::optional<FoundKey> find_key(const EditedText& edited, const KeyPath& path) {
  for (const auto& table : edited.tables()) {
    if (table.is_element || !begins_with(path, table.path) || path.size() == table.path.size()) continue;
    if (auto found = find_among(edited.text(), table.keys, rest_of(path, table.path.size()), std::nullopt))
      return found;
  }
  return std::nullopt;
}

/// a = { b = { c = VALUE } }
std::string assignment_text(const KeyPath& path, std::string_view value) {
  std::string text(value);
  for (std::size_t i = path.size(); i-- > 1;) text = fmt::format("{{ {} = {} }}", description::toml_key(path[i]), text);
  return fmt::format("{} = {}", description::toml_key(path.front()), text);
}

std::string header_text(const KeyPath& path) {
  std::string text;
  for (const auto& name : path) text += (text.empty() ? "" : ".") + description::toml_key(name);
  return "[" + text + "]";
}

std::size_t end_of_table(const LaidTable& table) {
  return table.keys.empty() ? table.header.end : table.keys.back().lines.end;
}

/// Where a new table stands: behind its relatives, [run] first, subsystems before connections, all else last.
std::size_t place_of_new_table(const EditedText& edited, const std::string& first) {
  const auto& tables = edited.tables();
  for (auto table = tables.rbegin(); table != tables.rend(); ++table) {
    if (!table->path.empty() && table->path.front() == first) return end_of_table(*table);
  }
  const std::string before = first == "subsystems" || first == "method" ? std::string(kConnections) : "";
  for (std::size_t i = 1; i < tables.size(); ++i) {
    if (first == "run" || tables[i].path.front() == before)
      return i == 1 ? tables[1].header.begin : end_of_table(tables[i - 1]);
  }
  return edited.text().size();
}

void insert_table(EditedText& edited, const KeyPath& table, const std::string& line) {
  const std::size_t place = place_of_new_table(edited, table.front());
  const auto before = edited.text().substr(0, place);
  const auto behind = edited.text().substr(place);
  const bool is_open = !before.empty() && !before.ends_with('\n');
  const std::string gap = before.empty() || before.ends_with("\n\n") ? "" : "\n";
  const std::string end = behind.empty() || behind.starts_with('\n') || behind.starts_with("\r\n") ? "" : "\n";
  edited.insert(place, fmt::format("{}{}{}\n{}\n{}", is_open ? "\n" : "", gap, header_text(table), line, end));
}

/// Into the table that is the longest beginning of the path; else into one that is made.
void insert_key(EditedText& edited, const KeyPath& path, std::string_view value) {
  const LaidTable* best = nullptr;
  for (const auto& table : edited.tables()) {
    if (table.is_element || table.path.empty() || !begins_with(path, table.path) || table.path.size() == path.size())
      continue;
    if (best == nullptr || table.path.size() > best->path.size()) best = &table;
  }
  if (best != nullptr) {
    return edited.insert_line(end_of_table(*best), assignment_text(rest_of(path, best->path.size()), value));
  }
  const std::size_t depth =
      std::min<std::size_t>(path.size() - 1, path.front() == "subsystems" || path.front() == "method" ? 2 : 1);
  insert_table(edited, KeyPath(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(depth)),
               assignment_text(rest_of(path, depth), value));
}

/// As one more key of a value in braces.
void insert_in_braces(EditedText& edited, TextSpan braces, const std::string& assigned) {
  const auto keys = description::keys_in_braces(edited.text(), braces);
  if (keys.empty()) return edited.replace(braces, "{ " + assigned + " }");
  edited.insert(keys.back().value.end, ", " + assigned);
}

/// One of several things between commas: it goes with the comma before it, the first with the one behind it.
template <class Span>
TextSpan with_comma(const std::vector<Span>& all, std::size_t i, const std::function<TextSpan(const Span&)>& span_of) {
  const TextSpan span = span_of(all[i]);
  if (i > 0) return {span_of(all[i - 1]).end, span.end};
  return all.size() > 1 ? TextSpan{span.begin, span_of(all[1]).begin} : span;
}

void remove_key(EditedText& edited, const FoundKey& found) {
  if (!found.braces) return edited.replace(found.key.lines, "");
  const auto& keys = found.siblings;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].lines.begin != found.key.lines.begin) continue;
    edited.replace(with_comma<LaidKey>(keys, i, [](const LaidKey& key) { return key.lines; }), "");
  }
}

/// Header and keys; blank lines before it go, too. Comments stay: they may be about more than this table.
void remove_table(EditedText& edited, const LaidTable& table) {
  std::size_t begin = table.header.begin;
  while (begin >= 2 && edited.text().substr(begin - 2, 2) == "\n\n") --begin;
  edited.replace({begin, table.header.end}, "");
  for (const auto& key : table.keys) edited.replace(key.lines, "");
}

/// The inputs that the value of a connection names: texts, tables with `to`, lists of both.
struct ConnectionTarget {
  std::string input;
  TextSpan element;  ///< that names it
  TextSpan name;     ///< the text alone
};

std::vector<ConnectionTarget> targets_of(std::string_view text, TextSpan value) {
  const char first = text[value.begin];
  if (first == '"' || first == '\'') return {{description::meaning_of(text, value), value, value}};
  std::vector<ConnectionTarget> targets;
  if (first == '[') {
    for (const auto& element : description::elements_in_brackets(text, value)) {
      for (auto& target : targets_of(text, element)) targets.push_back({target.input, element, target.name});
    }
  } else if (first == '{') {
    for (const auto& key : description::keys_in_braces(text, value)) {
      if (key.path == KeyPath{"to"}) {
        for (auto& target : targets_of(text, key.value)) targets.push_back({target.input, value, target.name});
      }
    }
  }
  return targets;
}

template <class Visitor>
void for_each_key_in(const EditedText& edited, const KeyPath& table, Visitor&& visit) {
  for (const auto& laid : edited.tables()) {
    if (laid.is_element) continue;
    if (laid.path == table) {
      for (const auto& key : laid.keys) visit(key, std::optional<FoundKey>());
    }
  }
  // Written in braces: tolerances = { ... }.
  const auto found = find_key(edited, table);
  if (!found || !found->rest.empty() || edited.at(found->key.value.begin) != '{') return;
  const auto keys = description::keys_in_braces(edited.text(), found->key.value);
  for (const auto& key : keys) visit(key, std::optional(FoundKey{key, {}, keys, found->key.value}));
}

bool belongs_to(const std::string& variable, const std::string& subsystem) {
  return variable.size() > subsystem.size() && variable.starts_with(subsystem) && variable[subsystem.size()] == '.';
}

/// "left.x" as one quoted name, or left.x as two names.
std::string name_of_key(const LaidKey& key) {
  std::string name;
  for (const auto& part : key.path) name += (name.empty() ? "" : ".") + part;
  return name;
}

const std::vector<KeyPath> kTablesOfVariables{{"schedule"}, {"run", "tolerances"}};

/// The entries of the scenario: a table each, or elements of one list.
struct LaidEntry {
  std::vector<LaidKey> keys;
  const LaidTable* table = nullptr;
  TextSpan removed{};  ///< of an element, with its comma
};
std::vector<LaidEntry> scenario_entries(const EditedText& edited) {
  std::vector<LaidEntry> entries;
  for (const auto& table : edited.tables()) {
    if (table.is_element && table.path == KeyPath{"scenario"}) entries.push_back({table.keys, &table});
  }
  const auto list = find_key(edited, {"scenario"});
  if (!list || !list->rest.empty() || edited.at(list->key.value.begin) != '[') return entries;
  const auto elements = description::elements_in_brackets(edited.text(), list->key.value);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    entries.push_back({description::keys_in_braces(edited.text(), elements[i]), nullptr,
                       with_comma<TextSpan>(elements, i, [](const TextSpan& span) { return span; })});
  }
  return entries;
}

/// "left.x -> right.x" and "left.x < 2" with another name of a subsystem.
std::string renamed_in(const std::string& text, const std::string& from, const std::string& to) {
  constexpr std::string_view kEndsName = " \t>";
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins = at == 0 || kEndsName.find(text[at - 1]) != std::string_view::npos;
    const bool is_it = begins && text.compare(at, from.size(), from) == 0 && text.substr(at + from.size(), 1) == ".";
    result += is_it ? to : std::string(1, text[at]);
    at += is_it ? from.size() : 1;
  }
  return result;
}

/// What a key of the scenario has as a text; empty where it has something else.
std::string text_of_key(const EditedText& edited, const LaidKey& key) {
  const char first = edited.at(key.value.begin);
  return first == '"' || first == '\'' ? description::meaning_of(edited.text(), key.value) : std::string();
}

void remove_targets(EditedText& edited, const LaidKey& key, const std::function<bool(const std::string&)>& goes) {
  const auto text = edited.text();
  const auto targets = targets_of(text, key.value);
  const auto gone = static_cast<std::size_t>(
      std::count_if(targets.begin(), targets.end(), [&](const auto& target) { return goes(target.input); }));
  if (gone == 0) return;
  if (gone == targets.size()) return edited.replace(key.lines, "");
  if (text[key.value.begin] != '[') return;
  const auto elements = description::elements_in_brackets(text, key.value);
  std::vector<TextSpan> kept;
  for (const auto& element : elements) {
    const auto named = targets_of(text, element);
    if (!std::all_of(named.begin(), named.end(), [&](const auto& target) { return goes(target.input); }))
      kept.push_back(element);
  }
  if (kept.size() == 1) {
    return edited.replace(key.value, std::string(text.substr(kept[0].begin, kept[0].end - kept[0].begin)));
  }
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const bool stays =
        std::any_of(kept.begin(), kept.end(), [&](const TextSpan& span) { return span.begin == elements[i].begin; });
    if (!stays) edited.replace(with_comma<TextSpan>(elements, i, [](const TextSpan& span) { return span; }), "");
  }
}

}  // namespace

std::string quoted_text(std::string_view text) {
  return description::toml_text(text);
}

std::string with_value(std::string_view text, const KeyPath& path, std::string_view value) {
  EditedText edited(text);
  const auto found = find_key(edited, path);
  if (found && found->rest.empty()) {
    edited.replace(found->key.value, std::string(value));
  } else if (found && edited.at(found->key.value.begin) == '{') {
    insert_in_braces(edited, found->key.value, assignment_text(found->rest, value));
  } else {
    insert_key(edited, path, value);
  }
  auto result = edited.result();
  EditedText valid(result);  // a value that is not TOML does not get into the text
  return result;
}

std::string without_value(std::string_view text, const KeyPath& path) {
  EditedText edited(text);
  if (const auto found = find_key(edited, path); found && found->rest.empty()) remove_key(edited, *found);
  for (const auto& table : edited.tables()) {
    if (table.path.empty()) continue;
    if (begins_with(table.path, path)) remove_table(edited, table);
    if (table.path.size() >= path.size()) continue;
    for (const auto& key : table.keys) {  // a.b.c = 1 in the table [a], or above all tables
      const auto whole = joined_path(table.path, key.path);
      if (whole.size() > path.size() && begins_with(whole, path)) edited.replace(key.lines, "");
    }
  }
  return edited.result();
}

std::string with_connection(std::string_view text, std::string_view output, std::string_view input) {
  EditedText edited(text);
  const auto found = find_key(edited, {std::string(kConnections), std::string(output)});
  const std::string name = quoted_text(input);
  if (!found || !found->rest.empty()) return with_value(text, {std::string(kConnections), std::string(output)}, name);
  const TextSpan value = found->key.value;
  for (const auto& target : targets_of(text, value)) {
    if (target.input == input) return std::string(text);
  }
  if (text[value.begin] == '[') {
    const auto elements = description::elements_in_brackets(text, value);
    edited.insert(elements.empty() ? value.begin + 1 : elements.back().end, (elements.empty() ? "" : ", ") + name);
  } else {
    edited.insert(value.begin, "[");
    edited.insert(value.end, ", " + name + "]");
  }
  return edited.result();
}

std::string without_connection(std::string_view text, std::string_view output, std::string_view input) {
  EditedText edited(text);
  for_each_key_in(edited, {std::string(kConnections)}, [&](const LaidKey& key, const auto&) {
    if (name_of_key(key) == output) remove_targets(edited, key, [&](const std::string& name) { return name == input; });
  });
  return edited.result();
}

std::string without_subsystem(std::string_view text, const std::string& name) {
  const std::string left = without_value(text, {"subsystems", name});
  EditedText edited(left);
  for_each_key_in(edited, {std::string(kConnections)}, [&](const LaidKey& key, const auto&) {
    if (belongs_to(name_of_key(key), name)) return edited.replace(key.lines, "");
    remove_targets(edited, key, [&](const std::string& input) { return belongs_to(input, name); });
  });
  for (const auto& table : kTablesOfVariables) {
    for_each_key_in(edited, table, [&](const LaidKey& key, const std::optional<FoundKey>& inner) {
      if (!belongs_to(name_of_key(key), name)) return;
      inner ? remove_key(edited, *inner) : edited.replace(key.lines, "");
    });
  }
  for (const auto& entry : scenario_entries(edited)) {
    const bool concerned = std::any_of(entry.keys.begin(), entry.keys.end(), [&](const LaidKey& key) {
      const auto of = text_of_key(edited, key);
      return renamed_in(of, name, name + "_") != of;
    });
    if (!concerned) continue;
    entry.table != nullptr ? remove_table(edited, *entry.table) : edited.replace(entry.removed, "");
  }
  return edited.result();
}

std::string with_subsystem_renamed(std::string_view text, const std::string& from, const std::string& to) {
  EditedText edited(text);
  const auto rename_part = [&](const KeyPath& path, const std::vector<TextSpan>& parts, std::size_t i) {
    if (i < path.size() && path[i] == from) edited.replace(parts[i], description::toml_key(to));
  };
  const auto renamed = [&](const std::string& variable) { return to + variable.substr(from.size()); };
  for (const auto& table : edited.tables()) {
    if (table.path.size() >= 2 && table.path[0] == "subsystems") rename_part(table.path, table.parts, 1);
    if (table.path == KeyPath{"subsystems"}) {
      for (const auto& key : table.keys) rename_part(key.path, key.parts, 0);
    }
  }
  const auto rename_key = [&](const LaidKey& key) {
    if (key.path.size() > 1 && key.path[0] == from) return edited.replace(key.parts[0], description::toml_key(to));
    if (key.path.size() == 1 && belongs_to(key.path[0], from))
      edited.replace(key.parts[0], quoted_text(renamed(key.path[0])));
  };
  for_each_key_in(edited, {std::string(kConnections)}, [&](const LaidKey& key, const auto&) {
    rename_key(key);
    for (const auto& target : targets_of(text, key.value)) {
      if (belongs_to(target.input, from)) edited.replace(target.name, quoted_text(renamed(target.input)));
    }
  });
  for (const auto& table : kTablesOfVariables)
    for_each_key_in(edited, table, [&](const LaidKey& key, const auto&) { rename_key(key); });
  for (const auto& entry : scenario_entries(edited)) {
    for (const auto& key : entry.keys) {
      const auto before = text_of_key(edited, key);
      if (const auto after = renamed_in(before, from, to); after != before)
        edited.replace(key.value, quoted_text(after));
    }
  }
  if (const auto recorded = find_key(edited, {"record", "variables"}); recorded && recorded->rest.empty()) {
    for (const auto& target : targets_of(text, recorded->key.value)) {
      if (belongs_to(target.input, from)) edited.replace(target.name, quoted_text(renamed(target.input)));
    }
  }
  return edited.result();
}

}  // namespace entrain
