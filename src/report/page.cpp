#include "report/page.hpp"

#include <nlohmann/json.hpp>

#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/report.hpp"

namespace entrain::reporting {
namespace {

constexpr std::size_t kMostCharacters = 1'950'000;
constexpr std::size_t kLeastRoom = 600'000;  // data that need more than the rest make a larger page

constexpr std::string_view kPlace = R"(<script type="application/json" id="entrain-data">)";

/// Inside a script element only '<' means something to HTML.
std::string without_tags(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

std::string embedded_text(const nlohmann::ordered_json& data) {
  return without_tags(data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace

std::size_t room_in_page(const nlohmann::ordered_json& data) {
  const std::size_t used = page_template().size() + embedded_text(data).size();
  return used + kLeastRoom < kMostCharacters ? kMostCharacters - used : kLeastRoom;
}

}  // namespace entrain::reporting

namespace entrain {

void require_pages() {
  if (!reporting::page_template().empty()) return;
  throw Error(ErrorCode::FileFailed, {FactCode::ReportsMissing},
              {.subsystem = {},
               .variable = {},
               .time = std::nullopt,
               .remedy = "Build it where npm (Node 18 or newer) is installed"});
}

}  // namespace entrain

namespace entrain::reporting {

std::string page_with(const nlohmann::ordered_json& data) {
  require_pages();
  const auto page = page_template();
  const auto place = page.find(kPlace);
  const auto split = place == std::string_view::npos ? page.size() : place + kPlace.size();
  return std::string(page.substr(0, split)) + embedded_text(data) + std::string(page.substr(split));
}

}  // namespace entrain::reporting
