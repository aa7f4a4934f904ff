#include "session/checkpoint_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/archive.hpp"
#include "base/file_error.hpp"
#include "base/replace_file.hpp"
#include "base/sha256.hpp"
#include "description/run_keys.hpp"
#include "description/subsystem_keys.hpp"
#include "description/system_file.hpp"
#include "entrain/entrain.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/learning.hpp"
#include "entrain/system.hpp"

namespace entrain {

template <class Visitor>
void visit_fields(Visitor& visit, CheckpointInfo& info) {
  visit(info.version, info.name, info.system_file, info.directory, info.time);
}

}  // namespace entrain

namespace entrain::session {

template <class Visitor>
void visit_fields(Visitor& visit, CheckpointContent& content) {
  visit(content.info, content.identity, content.changes, content.run);
}

}  // namespace entrain::session

namespace entrain {

namespace {

namespace fs = std::filesystem;

constexpr std::array kLetters{std::byte{'E'}, std::byte{'N'}, std::byte{'T'}, std::byte{'R'},
                              std::byte{'C'}, std::byte{'K'}, std::byte{'P'}, std::byte{'T'}};
/// Counts the changes of what is written; the state of a method or a subsystem changes with the version of Entrain.
constexpr std::uint32_t kFormatVersion = 2;

struct FileHead {
  std::array<std::byte, kLetters.size()> letters = kLetters;
  std::uint32_t format = kFormatVersion;
  std::uint64_t size = 0;  ///< of the content

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(letters, format, size);
  }
};
constexpr std::size_t kHeadBytes = kLetters.size() + sizeof(std::uint32_t) + sizeof(std::uint64_t);

[[noreturn]] void refuse(Fact fact, const std::string& remedy = {}) {
  throw Error(ErrorCode::FileFailed, std::move(fact), {.subsystem = {}, .variable = {}, .time = {}, .remedy = remedy});
}

/// The place where something was written is no part of what it is.
SystemDescription without_places(SystemDescription description) {
  description.file.clear();
  description::for_each_run_key([&](const auto& key) {
    auto& written = description.*key.field;
    if constexpr (requires { written.reset(); }) {
      if (!key.decides_result) written.reset();
      if (written) written->where = {};
    } else {
      written.where = {};
    }
  });
  // What a result is judged by is no part of it.
  description.tolerances.clear();
  description.open.reset();
  description.exclude.reset();
  description.sweep = {};  // nor are other runs
  description.placement.clear();
  for (auto& subsystem : description.subsystems) {
    description::for_each_source_file(subsystem, [](std::string& path) { path = fs::path(path).filename().string(); });
    for (auto& [name, written] : subsystem.start) written.where = {};
    for (auto& [name, start] : subsystem.optional_start) start.where = {};
  }
  return description;
}

/// "[run] step = 0.01": every line with the table that it stands in.
std::vector<std::string> entries_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> entries;
  std::string table;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with('[')) {
      table = line;
    } else if (!line.empty()) {
      entries.push_back(table + ' ' + line);
    }
  }
  return entries;
}

/// The first entry of `some` that is not among `others`; empty if there is none.
std::string first_besides(const std::vector<std::string>& some, const std::vector<std::string>& others) {
  const auto found = std::find_if(some.begin(), some.end(), [&](const std::string& entry) {
    return std::find(others.begin(), others.end(), entry) == others.end();
  });
  return found == some.end() ? std::string() : *found;
}

std::string difference_of_texts(const std::string& then, const std::string& now) {
  const auto old_entries = entries_of(then);
  const auto new_entries = entries_of(now);
  const std::string before = first_besides(old_entries, new_entries);
  const std::string after = first_besides(new_entries, old_entries);
  if (before.empty() && after.empty()) return "its parts have another order";
  if (before.empty()) return fmt::format("'{}' now, and nothing of it then", after);
  if (after.empty()) return fmt::format("'{}' then, and nothing of it now", before);
  return fmt::format("'{}' then, '{}' now", before, after);
}

base::Bytes file_bytes(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw base::file_error("read", file, errno);
  const std::vector<char> read{std::istreambuf_iterator<char>(stream), {}};
  const auto bytes = std::as_bytes(std::span(read));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

}  // namespace entrain

namespace entrain::session {

SystemIdentity identity_of(const SystemDescription& description, const Extensions& extensions, const Learned* learned) {
  const SystemDescription whole = resolved(description, extensions);
  SystemIdentity identity{system_text(without_places(whole)), {}};
  for (const auto& subsystem : whole.subsystems) {
    description::for_each_source_file(subsystem, [&](const std::string& path) {
      identity.files.emplace_back(fmt::format("{} of '{}'", fs::path(path).filename().string(), subsystem.name),
                                  base::sha256_of_file(base::LocatedFile(path).path()));
    });
  }
  if (learned != nullptr) {
    identity.files.emplace_back("the learned correction",
                                base::hexadecimal(base::sha256(base::to_bytes(learned->inputs, learned->corrections))));
  }
  return identity;
}

std::string difference(const SystemIdentity& then, const SystemIdentity& now) {
  if (then.text != now.text) return difference_of_texts(then.text, now.text);
  for (std::size_t i = 0; i < std::max(then.files.size(), now.files.size()); ++i) {
    if (i < then.files.size() && i < now.files.size() && then.files[i] == now.files[i]) continue;
    return fmt::format("{} is not the same file", (i < now.files.size() ? now : then).files[i].first);
  }
  return {};
}

void write_checkpoint(const fs::path& file, const CheckpointContent& content) {
  const base::Bytes body = base::to_bytes(content);
  FileHead head;
  head.size = body.size();
  base::Bytes all = base::to_bytes(head);
  all.insert(all.end(), body.begin(), body.end());
  const auto checksum = base::sha256(all);
  all.insert(all.end(), checksum.begin(), checksum.end());
  base::replace_file(file, {reinterpret_cast<const char*>(all.data()), all.size()});
}

CheckpointContent read_checkpoint(const fs::path& file) {
  const base::Bytes all = file_bytes(file);
  if (all.size() < kHeadBytes) refuse({FactCode::CheckpointCut, {file.string()}, {{"bytes", all.size()}}});
  FileHead head;
  base::from_bytes(std::span(all).first(kHeadBytes), head);
  if (head.letters != kLetters) refuse({FactCode::NoCheckpoint, {file.string()}});
  if (head.format != kFormatVersion) {
    refuse({FactCode::CheckpointFormat, {file.string()}, {{"format", head.format}, {"known", kFormatVersion}}},
           "Go on with the version that wrote it");
  }
  constexpr std::size_t kAround = kHeadBytes + sizeof(base::Sha256::Digest);
  if (all.size() < kAround || all.size() - kAround < head.size) {
    refuse({FactCode::CheckpointCut, {file.string()}, {{"bytes", all.size()}}}, "Go on from an earlier one");
  }
  const auto before_sum = std::span(all).first(all.size() - sizeof(base::Sha256::Digest));
  const auto sum = base::sha256(before_sum);
  if (!std::equal(sum.begin(), sum.end(), all.end() - std::ssize(sum)) || all.size() - kAround != head.size) {
    refuse({FactCode::CheckpointDamaged, {file.string()}}, "Go on from an earlier one");
  }
  CheckpointContent content;
  base::ByteReader read(before_sum.subspan(kHeadBytes));
  read(content.info);
  if (content.info.version != version()) {
    refuse({FactCode::CheckpointVersion, {file.string()}, {{"version", content.info.version}, {"known", version()}}},
           "Go on with the version that wrote it");
  }
  read(content.identity, content.changes, content.run);
  return content;
}

}  // namespace entrain::session

namespace entrain {

CheckpointInfo read_checkpoint_info(const fs::path& file) {
  return session::read_checkpoint(file).info;
}

}  // namespace entrain
