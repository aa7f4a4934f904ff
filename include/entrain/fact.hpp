#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "entrain/export.hpp"

namespace entrain {

/// Where something was written. An empty file means "not from a file" (command line, program).
struct SourcePosition {
  std::string file;
  int line = 0;    ///< 1-based; 0 = unknown
  int column = 0;  ///< 1-based; 0 = unknown

  bool operator==(const SourcePosition&) const = default;
};

/// What is reported; all codes are in entrain/fact_codes.hpp and docs/facts.md. 0 is `custom`.
enum class FactCode : std::uint16_t;

enum class FactKind {
  Note,     ///< how something was done
  Warning,  ///< what may degrade the result
  Error,    ///< what prevents it
};
ENTRAIN_API std::string_view to_string(FactKind kind);

/// A number with its unit, or a text, by name.
struct FactValue {
  FactValue() = default;
  FactValue(std::string_view of, std::string text) : name(of), value(std::move(text)) {}
  FactValue(std::string_view of, std::string_view text) : name(of), value(std::string(text)) {}
  FactValue(std::string_view of, const char* text) : name(of), value(std::string(text)) {}
  template <class Number>
  requires std::is_arithmetic_v<Number> FactValue(std::string_view of, Number number,
                                                  std::string_view unit_of_number = {})
      : name(of), value(static_cast<double>(number)), unit(unit_of_number) {}

  std::string name;
  std::variant<double, std::string> value;
  std::string unit;

  bool operator==(const FactValue&) const = default;
};

/// One thing that is reported of a system or a run, as data: programs and tests read the code, the subjects and the
/// values; `render` makes the sentence.
struct ENTRAIN_API Fact {
  FactCode code{};
  std::vector<std::string> subjects = {};  ///< the subsystem, variable, option, ... that it is about
  std::vector<FactValue> values = {};
  std::string remedy = {};  ///< what to do here, if more is known than the sentence contains
  SourcePosition where = {};

  /// nullopt when there is no number of this name.
  std::optional<double> number(std::string_view name) const;
  /// Empty when there is no text of this name.
  std::string_view text(std::string_view name) const;
  bool operator==(const Fact&) const = default;
};

/// The sentence, with position and remedy: "system.toml:12: inputs of 'prey' lowered from degree 3 to 0 ...".
ENTRAIN_API std::string render(const Fact& fact);
/// All of them, with a separator between.
ENTRAIN_API std::string render(std::span<const Fact> facts, std::string_view separator);

/// What a method or a subsystem of a user reports in words of its own.
ENTRAIN_API Fact custom_note(std::string text);
ENTRAIN_API Fact custom_warning(std::string text);

/// One line of the catalogue.
struct FactEntry {
  FactCode code{};
  FactKind kind = FactKind::Note;
  std::string_view name;      ///< stable: "input-degree-lowered"
  std::string_view sentence;  ///< a template, see docs/facts.md
  std::string_view remedy;    ///< in general; may be empty
};
ENTRAIN_API std::span<const FactEntry> fact_catalogue() noexcept;

ENTRAIN_API FactKind kind_of(FactCode code) noexcept;
/// "input-degree-lowered"
ENTRAIN_API std::string_view name_of(FactCode code) noexcept;
/// The inverse; nullopt for a name that is not in the catalogue.
ENTRAIN_API std::optional<FactCode> fact_code(std::string_view name) noexcept;

}  // namespace entrain
