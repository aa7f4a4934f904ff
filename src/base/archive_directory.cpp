#include "base/archive_directory.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::base {
namespace {

// Signatures and sizes of the records of a zip archive (APPNOTE.TXT 6.3.9, sections 4.3.12 to 4.3.16).
constexpr std::string_view kEntry("PK\x01\x02", 4);
constexpr std::size_t kEntrySize = 46;
constexpr std::string_view kEnd("PK\x05\x06", 4);
constexpr std::size_t kEndSize = 22;
constexpr std::string_view kLocator64("PK\x06\x07", 4);
constexpr std::size_t kLocator64Size = 20;
constexpr std::string_view kEnd64("PK\x06\x06", 4);
constexpr std::size_t kEnd64Size = 56;
constexpr std::size_t kLongestComment = 0xffff;

std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = (value << 8U) | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

class File {
 public:
  explicit File(const std::filesystem::path& path) : file_(std::fopen(path.c_str(), "rb"), std::fclose) {
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    size_ = error ? 0 : size;
  }

  std::uint64_t size() const { return size_; }

  /// Shorter than asked for at the end of the file.
  std::string read(std::uint64_t at, std::size_t count) const {
    if (!file_ || at >= size_) return {};
    std::string bytes(static_cast<std::size_t>(std::min<std::uint64_t>(count, size_ - at)), '\0');
    if (std::fseek(file_.get(), static_cast<long>(at), SEEK_SET) != 0) return {};
    bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file_.get()));
    return bytes;
  }

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::uint64_t size_ = 0;
};

struct Directory {
  std::uint64_t entries = 0;
  std::uint64_t offset = 0;
};

std::optional<Directory> find_directory(const File& file) {
  const std::uint64_t tail_size = std::min<std::uint64_t>(file.size(), kEndSize + kLongestComment);
  const std::string tail = file.read(file.size() - tail_size, static_cast<std::size_t>(tail_size));
  const auto end = tail.rfind(kEnd);
  if (end == std::string::npos || tail.size() - end < kEndSize) return std::nullopt;
  Directory directory{number(tail, end + 10, 2), number(tail, end + 16, 4)};
  if (end < kLocator64Size || tail.compare(end - kLocator64Size, 4, kLocator64) != 0) return directory;
  const std::string end64 = file.read(number(tail, end - kLocator64Size + 8, 8), kEnd64Size);
  if (end64.size() < kEnd64Size || end64.compare(0, 4, kEnd64) != 0) return directory;
  return Directory{std::max(directory.entries, number(end64, 32, 8)), number(end64, 48, 8)};
}

constexpr std::size_t kLocalSize = 30;
constexpr std::string_view kLocal("PK\x03\x04", 4);
constexpr std::uint64_t kIn64 = 0xffffffff;  // the real number is in the ZIP64 record of the entry

/// Where an entry lies in the file.
struct Extent {
  std::uint64_t begin;
  std::uint64_t end;
  std::string name;
};

/// From its line in the directory; `extra`: what follows the name there.
Extent extent_of(const File& file, std::string_view head, std::string_view extra, std::string name) {
  std::uint64_t packed = number(head, 20, 4);
  std::uint64_t offset = number(head, 42, 4);
  for (; extra.size() >= 4; extra.remove_prefix(std::min<std::size_t>(extra.size(), 4 + number(extra, 2, 2)))) {
    if (number(extra, 0, 2) != 1) continue;
    std::string_view rest = extra.substr(4, number(extra, 2, 2));
    const auto take = [&](std::uint64_t& value) {
      if (value != kIn64 || rest.size() < 8) return;
      value = number(rest, 0, 8);
      rest.remove_prefix(8);
    };
    std::uint64_t unpacked = number(head, 24, 4);
    take(unpacked);
    take(packed);
    take(offset);
  }
  const std::string local = file.read(offset, kLocalSize);
  const bool is_there = local.size() == kLocalSize && local.compare(0, 4, kLocal) == 0;
  const std::uint64_t texts = is_there ? number(local, 26, 2) + number(local, 28, 2) : 0;
  return {offset, offset + kLocalSize + texts + packed, std::move(name)};
}

/// An honest archive has the bytes of each entry once; where they are shared, few bytes become many.
std::optional<Fact> overlap(std::vector<Extent> extents) {
  std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < extents.size(); ++i) {
    if (extents[i].begin < extents[i - 1].end) return Fact{FactCode::ArchiveOverlap, {printable(extents[i].name)}};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Fact> fault_of_directory(const std::filesystem::path& archive, std::uint64_t most_entries) {
  const File file(archive);
  const auto directory = find_directory(file);
  if (!directory) return {};
  // 0xffff means that the real number is in the ZIP64 record; an archive may also have just as many.
  if (directory->entries > most_entries)
    return Fact{FactCode::ArchiveTooManyEntries, {}, {{"entries", directory->entries}, {"limit", most_entries}}};
  std::uint64_t at = directory->offset;
  std::vector<Extent> extents;
  for (std::uint64_t i = 0; i < directory->entries; ++i) {
    const std::string head = file.read(at, kEntrySize);
    if (head.size() < kEntrySize || head.compare(0, 4, kEntry) != 0) break;  // the number may be too large
    const auto name_size = static_cast<std::size_t>(number(head, 28, 2));
    const std::string name = file.read(at + kEntrySize, name_size);
    if (name.find('\0') != std::string::npos)
      return Fact{FactCode::EntryName, {printable(name)}, {{"fault", kControlCharacter}}};
    const auto extra_size = static_cast<std::size_t>(number(head, 30, 2));
    extents.push_back(extent_of(file, head, file.read(at + kEntrySize + name_size, extra_size), name));
    at += kEntrySize + name_size + extra_size + number(head, 32, 2);
  }
  return overlap(std::move(extents));
}

}  // namespace entrain::base
