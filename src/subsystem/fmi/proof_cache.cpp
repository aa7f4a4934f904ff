#include "subsystem/fmi/proof_cache.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <mutex>
#include <string_view>

#include "base/facts/fact_bytes.hpp"
#include "base/sha256.hpp"
#include "entrain/cache.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain {
namespace {

struct CacheFolder {
  std::mutex mutex;
  std::filesystem::path path;
};
CacheFolder& chosen_cache() {
  static auto* folder = new CacheFolder;  // never destroyed: a static object may hold a run
  return *folder;
}

}  // namespace

void set_cache_folder(std::filesystem::path folder) {
  const std::lock_guard lock(chosen_cache().mutex);
  chosen_cache().path = std::move(folder);
}

}  // namespace entrain

namespace entrain::subsystem {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "entrain proof 1\n";  // changed with the rules of the probes
constexpr std::uintmax_t kLargestEntry = 1 << 20;
constexpr std::size_t kMostEntries = 2000;
constexpr const char* kExtension = ".proof";

/// The first one.
std::string processor_of_this_machine() {
  std::ifstream file("/proc/cpuinfo");
  std::string text;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    if (line.starts_with("model name") || line.starts_with("flags")) text += line;
  }
  return base::hexadecimal(base::sha256(std::as_bytes(std::span(text))));
}

/// The whole of what a proof belongs to. Codes of facts are numbers, which another build of one version may count
/// otherwise.
base::Bytes identity_of(const ProofKey& key, const Prover& prover) {
  return base::to_bytes(static_cast<std::uint64_t>(fact_catalogue().size()), prover, key);
}

fs::path entry_of(const fs::path& folder, const base::Bytes& identity) {
  return folder / "fmus" / (base::hexadecimal(base::sha256(identity)) + kExtension);
}

std::optional<base::Bytes> content_of(const fs::path& file) {
  std::error_code unknown;
  const auto size = fs::file_size(file, unknown);
  if (unknown || size > kLargestEntry) return std::nullopt;
  base::Bytes content(size);
  std::ifstream stream(file, std::ios::binary);
  if (!stream.read(reinterpret_cast<char*>(content.data()), static_cast<std::streamsize>(size))) return std::nullopt;
  return content;
}

/// The sum comes first: a file that was cut, or holds what another file held, is no entry.
base::Bytes with_sum(const base::Bytes& payload) {
  base::Bytes content;
  const auto magic = std::as_bytes(std::span(kMagic));
  const auto sum = base::hexadecimal(base::sha256(payload));
  const auto sum_bytes = std::as_bytes(std::span(sum));
  content.insert(content.end(), magic.begin(), magic.end());
  content.insert(content.end(), sum_bytes.begin(), sum_bytes.end());
  content.insert(content.end(), payload.begin(), payload.end());
  return content;
}

std::optional<base::Bytes> without_sum(const base::Bytes& content) {
  constexpr std::size_t kSumDigits = 64;
  const std::size_t before = kMagic.size() + kSumDigits;
  if (content.size() < before) return std::nullopt;
  base::Bytes payload(content.begin() + static_cast<std::ptrdiff_t>(before), content.end());
  if (with_sum(payload) != content) return std::nullopt;
  return payload;
}

/// The path of the FMU is not part of the proof.
void rename(std::vector<Fact>& facts, const std::string& from, const std::string& to) {
  for (auto& fact : facts) {
    for (auto& subject : fact.subjects) {
      if (subject == from) subject = to;
    }
  }
}

bool are_known(const std::vector<Fact>& facts) {
  return std::all_of(facts.begin(), facts.end(),
                     [](const Fact& fact) { return static_cast<std::size_t>(fact.code) < fact_catalogue().size(); });
}

/// The oldest half goes when there are too many: FMUs that are built again and again leave entries for good.
void limit_entries(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> entries;
  std::error_code unknown;
  for (fs::directory_iterator each(folder, unknown), end; !unknown && each != end; each.increment(unknown)) {
    std::error_code gone;
    entries.emplace_back(each->last_write_time(gone), each->path());
  }
  if (entries.size() <= kMostEntries) return;
  std::sort(entries.begin(), entries.end());
  for (std::size_t i = 0; i < entries.size() / 2; ++i) fs::remove(entries[i].second, unknown);
}

void write_entry(const fs::path& file, const base::Bytes& content) {
  static std::atomic<int> counter = 0;
  std::error_code failed;
  fs::create_directories(file.parent_path(), failed);
  if (failed) return;
  const auto name = fmt::format("{}.{}.{}", file.filename().string(), ::getpid(), counter++);
  const fs::path temporary = file.parent_path() / name;
  {
    std::ofstream stream(temporary, std::ios::binary | std::ios::trunc);
    stream.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
    stream.close();
    if (!stream) {
      fs::remove(temporary, failed);
      return;
    }
  }
  fs::rename(temporary, file, failed);
  if (failed) fs::remove(temporary, failed);
  limit_entries(file.parent_path());
}

}  // namespace

const Prover& Prover::here() {
  static const Prover known{ENTRAIN_VERSION, processor_of_this_machine()};
  return known;
}

fs::path cache_folder() {
  const std::lock_guard lock(chosen_cache().mutex);
  return chosen_cache().path;
}

std::optional<FmuAbilities> kept_proof(const ProofKey& key, const std::string& name, const Prover& prover) {
  const auto folder = cache_folder();
  if (folder.empty()) return std::nullopt;
  const auto identity = identity_of(key, prover);
  const auto content = content_of(entry_of(folder, identity));
  const auto payload = content ? without_sum(*content) : std::nullopt;
  if (!payload) return std::nullopt;
  try {
    base::Bytes written_for;
    FmuAbilities abilities;
    base::from_bytes(*payload, written_for, abilities);
    if (written_for != identity || !are_known(abilities.warnings)) return std::nullopt;
    rename(abilities.warnings, {}, name);
    return abilities;
  } catch (const Error&) {
    return std::nullopt;
  }
}

void keep_proof(const ProofKey& key, const std::string& name, FmuAbilities abilities, const Prover& prover) {
  const auto folder = cache_folder();
  if (folder.empty() || abilities.depends_on_load) return;
  rename(abilities.warnings, name, {});
  const auto identity = identity_of(key, prover);
  write_entry(entry_of(folder, identity), with_sum(base::to_bytes(identity, abilities)));
}

}  // namespace entrain::subsystem
