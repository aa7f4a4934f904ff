#include "report/frames_json.hpp"

#include <nlohmann/json.hpp>

#include "base/csv.hpp"
#include "entrain/error.hpp"

namespace entrain::reporting {
namespace {

constexpr std::size_t kMostShown = 5000;
constexpr std::size_t kColumns = 7;          // of FrameFile
constexpr std::size_t kMostDigits = 2 * 64;  // of the bytes: those of CAN FD

}  // namespace

nlohmann::ordered_json frames_json(const std::filesystem::path& file) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(file, unknown)) return {};
  try {
    const std::string all = base::read_csv_text(file);
    std::string_view text = all;
    auto record = base::take_csv_record(text);
    if (!record || record->size() != kColumns) return {};
    auto frames = nlohmann::ordered_json::array();
    std::size_t count = 0;
    while ((record = base::take_csv_record(text))) {
      if (record->size() != kColumns) return {};
      const auto time = base::csv_number(record->front());
      if (!time) return {};
      if (++count > kMostShown) continue;
      auto& frame = frames.emplace_back(nlohmann::ordered_json::array({*time}));
      for (std::size_t i = 1; i < kColumns; ++i) frame.push_back((*record)[i].substr(0, kMostDigits));
    }
    return {{"count", count}, {"frames", std::move(frames)}};
  } catch (const Error&) {  // too large, or gone
    return {};
  }
}

}  // namespace entrain::reporting
