#include "learn/learning_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/bytes.hpp"
#include "base/facts/fact_bytes.hpp"
#include "base/replace_file.hpp"
#include "base/sha256.hpp"
#include "base/text_file.hpp"
#include "entrain/entrain.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain {

template <class Visitor>
void visit_fields(Visitor& visit, LearnedConnection& of) {
  visit(of.name, of.norm, of.max_error);
}

template <class Visitor>
void visit_fields(Visitor& visit, LearnIteration& of) {
  visit(of.number, of.horizon, of.error, of.gamma, of.missed_deadlines, of.held_steps, of.lost_datagrams, of.limited,
        of.faded, of.runs_left, of.not_used, of.connections, of.failure);
}

template <class Visitor>
void visit_fields(Visitor& visit, LearnedCourse& of) {
  visit(of.connection, of.unit, of.times, of.received, of.meant);
}

}  // namespace entrain

namespace entrain::learning {
namespace {

constexpr std::string_view kLetters = "ENTRLEAR";
constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 32U;

[[noreturn]] void refuse_state(const std::filesystem::path& file, const std::string& why) {
  throw Error(ErrorCode::FileFailed, {FactCode::LearningStateUnusable, {file.string()}, {{"why", why}}},
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Learn anew, without --resume"});
}

std::string_view chars_of(const base::Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string number_text(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : std::string("by default");
}

std::string difference_of(const LearningIdentity& then, const LearningIdentity& now) {
  for (std::size_t i = 0; i < std::min(then.options.size(), now.options.size()); ++i) {
    if (then.options[i] == now.options[i]) continue;
    return fmt::format("{} was {}, now it is {}", then.options[i].first, then.options[i].second, now.options[i].second);
  }
  return difference(then.system, now.system);
}

}  // namespace

LearningIdentity identity_of(const SystemDescription& description, const LearnOptions& options, LearnInputs inputs,
                             const Extensions& extensions) {
  LearningIdentity identity{session::identity_of(description, extensions, nullptr), {}};
  const auto add = [&](const char* name, std::string value) { identity.options.emplace_back(name, std::move(value)); };
  add("inputs", std::string(to_word(inputs)));
  add("gain", fmt::format("{}", options.gain));
  add("memory", fmt::format("{}", options.memory));
  add("cutoff", number_text(options.cutoff));
  add("forgetting", number_text(options.forgetting));
  add("fade", fmt::format("{}", options.fade));
  add("progressive", std::string(to_word(options.progressive)));
  add("horizon", fmt::format("{}", options.horizon));
  return identity;
}

void write_state(const std::filesystem::path& file, const LearningIdentity& identity,
                 const LearningPosition& position) {
  const base::Bytes content = base::to_bytes(identity, position);
  std::string all(kLetters);
  all += chars_of(base::to_bytes(std::string(version()), std::uint64_t{content.size()}));
  all += chars_of(content);
  const auto sum = base::sha256(std::as_bytes(std::span(all)));
  all.append(reinterpret_cast<const char*>(sum.data()), sum.size());
  base::replace_file(file, all);
}

LearningPosition read_state(const std::filesystem::path& file, const LearningIdentity& identity) {
  const std::string text = base::read_text_file(
      file, {"the state of a learning", "Name the folder that 'entrain learn' wrote to", kMostBytes});
  constexpr std::size_t kSum = sizeof(base::Sha256::Digest);
  if (!std::string_view(text).starts_with(kLetters)) refuse_state(file, "it begins with something else");
  if (text.size() < kLetters.size() + kSum) refuse_state(file, "it is cut");
  const auto all = std::as_bytes(std::span(text)).first(text.size() - kSum);
  const auto sum = base::sha256(all);
  if (!std::equal(sum.begin(), sum.end(), std::as_bytes(std::span(text)).end() - std::ssize(sum))) {
    refuse_state(file, "it is cut or damaged");
  }
  base::ByteReader read(all.subspan(kLetters.size()));
  std::string written_by;
  std::uint64_t size = 0;
  read(written_by, size);
  if (written_by != version()) refuse_state(file, fmt::format("version {} wrote it", written_by));
  LearningIdentity then;
  LearningPosition position;
  read(then, position);
  const auto difference = difference_of(then, identity);
  if (!difference.empty()) {
    throw Error(ErrorCode::InvalidSystem, {FactCode::LearningStateOther, {file.string()}, {{"difference", difference}}},
                {.subsystem = {},
                 .variable = {},
                 .time = {},
                 .remedy = "Go on with the system and the options that it was begun with, or learn anew"});
  }
  return position;
}

}  // namespace entrain::learning
