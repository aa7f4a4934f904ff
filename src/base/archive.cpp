#include "base/archive.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "base/archive_directory.hpp"
#include "base/open_archives.hpp"
#include "base/printable.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::base {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestPart = 255;   // bytes: what file systems take (NAME_MAX) ...
constexpr std::size_t kLongestPath = 2000;  // ... and less than PATH_MAX, because the folder comes before it

/// Why an entry of this name must not be written; empty when it may.
std::string_view fault_of_name(std::string_view name) {
  if (name.empty()) return "no name";
  if (name.size() > kLongestPath) return "path too long";
  if (!is_utf8(name)) return "not UTF-8";
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return kControlCharacter;
  }
  if (name.front() == '/') return "absolute path";
  if (name.size() > 1 && name[1] == ':') return "drive letter";
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (part == "..") return "'..' leads out of the archive";
    if (part.size() > kLongestPart) return "name too long";
    begin = end + 1;
  }
  return {};
}

/// An archive, looked at with distrust: nothing is written before the names, kinds and sizes of all entries are known
/// to be harmless, and no more than they claim, because headers lie.
class ArchiveReader {
 public:
  /// `shown`: what the user knows it by.
  ArchiveReader(const fs::path& archive, fs::path shown, const ArchiveLimits& limits)
      : shown_(std::move(shown)), limits_(limits), zip_(open(archive)) {
    const zip_int64_t count = zip_get_num_entries(zip_.get(), 0);
    if (static_cast<std::uint64_t>(count) > limits_.entries) {
      refuse({FactCode::ArchiveTooManyEntries, {}, {{"entries", count}, {"limit", limits_.entries}}});
    }
    for (zip_int64_t i = 0; i < count; ++i) check(static_cast<zip_uint64_t>(i));
    std::error_code unknown;
    if (total_ > limits_.total_free_bytes && total_ / limits_.total_ratio > fs::file_size(archive, unknown))
      refuse({FactCode::ArchiveRatio, {}, {{"bytes", total_}, {"ratio", limits_.total_ratio}}});
  }

  void unpack(const fs::path& folder) {
    began_ = Clock::now();
    for (const auto& [name, entry] : entries_) {
      const fs::path target = folder / name;
      std::error_code error;
      fs::create_directories(entry.is_folder ? target : target.parent_path(), error);
      if (error) fail_to_write(target, error);
      if (!entry.is_folder) write(entry, target);
    }
  }

  bool has_file(const std::string& name) const {
    const auto found = entries_.find(name);
    return found != entries_.end() && !found->second.is_folder;
  }

  void extract(const std::string& name, const fs::path& target) {
    began_ = Clock::now();
    write(entries_.at(name), target);
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Discard {
    void operator()(zip_t* zip) const { zip_discard(zip); }
    void operator()(zip_file_t* file) const { zip_fclose(file); }
  };
  struct Entry {
    zip_uint64_t index;
    std::string name;    ///< as the archive spells it, but for backslashes
    std::uint64_t size;  ///< unpacked, as claimed
    bool is_folder;
    bool executable;
    std::optional<std::uint32_t> checksum;  ///< of the content, as claimed

    bool is_same_as(const Entry& other) const {
      if (is_folder || other.is_folder) return is_folder && other.is_folder;
      return checksum && checksum == other.checksum && size == other.size && executable == other.executable;
    }
  };

  std::unique_ptr<zip_t, Discard> open(const fs::path& archive) {
    std::error_code error;
    const auto status = fs::status(archive, error);
    if (!fs::exists(status)) fail_file({FactCode::NoSuchFile, {shown_.string()}});
    if (!fs::is_regular_file(status)) fail_file({FactCode::NotRegularFile, {shown_.string()}});
    if (auto fault = fault_of_directory(archive, limits_.entries)) refuse(std::move(*fault));
    int code = 0;
    std::unique_ptr<zip_t, Discard> zip(zip_open(archive.c_str(), ZIP_RDONLY, &code));
    if (zip) return zip;
    if (code == ZIP_ER_NOZIP || code == ZIP_ER_INCONS || code == ZIP_ER_EOF) {
      refuse({FactCode::ArchiveNoZip});
    }
    zip_error_t reason;
    zip_error_init_with_code(&reason, code);
    const std::string text = zip_error_strerror(&reason);
    zip_error_fini(&reason);
    fail_file({FactCode::FileFailed, {shown_.string()}, {{"what", "read"}, {"why", text}}});
  }

  [[noreturn]] static void fail_file(Fact fact) {
    throw Error(ErrorCode::FileFailed, std::move(fact),
                {.subsystem = {}, .variable = {}, .time = std::nullopt, .remedy = "Check its name and its folder"});
  }

  /// The archive becomes the first subject.
  [[noreturn]] void refuse(Fact fact) const {
    fact.subjects.insert(fact.subjects.begin(), shown_.string());
    throw Error(ErrorCode::InvalidSystem, std::move(fact),
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Get the file again from where it was made"});
  }
  [[noreturn]] void refuse(FactCode code, std::string_view entry, std::vector<FactValue> values = {}) const {
    refuse({code, {printable(entry)}, std::move(values)});
  }

  void check(zip_uint64_t index) {
    zip_stat_t status;
    zip_stat_init(&status);
    const char* raw = zip_get_name(zip_.get(), index, ZIP_FL_ENC_RAW);
    if (raw == nullptr || zip_stat_index(zip_.get(), index, 0, &status) != 0) {
      refuse({FactCode::EntryUnreadable, {}, {{"number", index}, {"why", zip_strerror(zip_.get())}}});
    }
    // Tools on Windows write paths with backslashes, which the format forbids. What is checked is what is written.
    std::string name = raw;
    std::replace(name.begin(), name.end(), '\\', '/');
    if (const auto fault = fault_of_name(name); !fault.empty()) refuse(FactCode::EntryName, name, {{"fault", fault}});
    const fs::path relative = fs::path(name).lexically_normal();
    const bool is_folder = name.back() == '/';
    if (!is_folder && (!relative.has_filename() || relative == "."))
      refuse(FactCode::EntryName, name, {{"fault", "no file"}});
    if ((status.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && status.encryption_method != ZIP_EM_NONE) {
      refuse(FactCode::EntryKind, name, {{"kind", "encrypted"}});
    }
    check_size(name, status);
    Entry entry{index, name, status.size, is_folder, is_executable(index, name), {}};
    if ((status.valid & ZIP_STAT_CRC) != 0) entry.checksum = status.crc;
    const std::string key = is_folder ? relative.parent_path().string() : relative.string();
    const auto [known, is_new] = entries_.insert({key, entry});
    // Tools pack a folder or a file twice; of two files that differ one would be lost.
    if (!is_new && !entry.is_same_as(known->second)) refuse(FactCode::EntryTwice, name);
  }

  /// Sizes as claimed; `copy` sees to it that the claim holds.
  void check_size(const std::string& name, const zip_stat_t& status) {
    if (status.size > limits_.bytes - total_) refuse(FactCode::ArchiveTooLarge, name, {{"limit", limits_.bytes}});
    total_ += status.size;
    if (status.size > limits_.ratio_free_bytes && status.size / limits_.ratio > status.comp_size)
      refuse(FactCode::EntryRatio, name, {{"ratio", limits_.ratio}});
  }

  /// Refuses symbolic links and devices: they are how an archive reaches outside its folder.
  bool is_executable(zip_uint64_t index, const std::string& name) const {
    zip_uint8_t system = 0;
    zip_uint32_t attributes = 0;
    if (zip_file_get_external_attributes(zip_.get(), index, 0, &system, &attributes) != 0) return false;
    if (system != ZIP_OPSYS_UNIX) return false;
    const auto mode = static_cast<mode_t>(attributes >> 16U);
    if ((mode & S_IFMT) != 0 && !S_ISREG(mode) && !S_ISDIR(mode)) {
      refuse(FactCode::EntryKind, name, {{"kind", S_ISLNK(mode) ? "a symbolic link" : "neither a file nor a folder"}});
    }
    return (mode & S_IXUSR) != 0;
  }

  void check_clock() const {
    if (std::chrono::duration<double>(Clock::now() - began_).count() > limits_.seconds)
      refuse({FactCode::ArchiveTooSlow, {}, {{"seconds", limits_.seconds, "s"}}});
  }

  void write(const Entry& entry, const fs::path& target) {
    check_clock();
    const std::unique_ptr<zip_file_t, Discard> file(zip_fopen_index(zip_.get(), entry.index, 0));
    if (!file) refuse(FactCode::EntryUnreadable, entry.name, {{"why", zip_strerror(zip_.get())}});
    const int out =
        ::open(target.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, entry.executable ? 0700 : 0600);
    if (out < 0) fail_to_write(target);
    try {
      copy(entry, *file, out, target);
    } catch (...) {
      ::close(out);
      throw;
    }
    if (::close(out) != 0) fail_to_write(target);
  }

  void copy(const Entry& entry, zip_file_t& file, int out, const fs::path& target) {
    std::array<char, std::size_t{1} << 16U> buffer;
    std::uint64_t written = 0;
    for (;;) {
      const zip_int64_t got = zip_fread(&file, buffer.data(), buffer.size());
      if (got < 0) refuse(FactCode::EntryDamaged, entry.name, {{"why", zip_error_strerror(zip_file_get_error(&file))}});
      if (got == 0) return;
      check_clock();
      written += static_cast<std::uint64_t>(got);
      if (written > entry.size) refuse(FactCode::EntryLargerThanClaimed, entry.name, {{"claimed", entry.size}});
      for (zip_int64_t done = 0; done < got;) {
        const ssize_t put = ::write(out, buffer.data() + done, static_cast<std::size_t>(got - done));
        if (put < 0) fail_to_write(target);
        done += put;
      }
    }
  }

  [[noreturn]] static void fail_to_write(const fs::path& target,
                                         const std::error_code& reason = {errno, std::generic_category()}) {
    throw Error(
        ErrorCode::FileFailed,
        {FactCode::FileFailed, {target.string()}, {{"what", "write"}, {"why", reason.message()}}},
        {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Set TMPDIR to a folder with space and rights"});
  }

  fs::path shown_;
  ArchiveLimits limits_;
  std::unique_ptr<zip_t, Discard> zip_;
  std::map<std::string, Entry> entries_;  ///< by their path in the folder
  std::uint64_t total_ = 0;
  Clock::time_point began_;
};

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

/// An archive, and the folder it was taken out into if it lay in another.
struct OpenArchive {
  OpenArchive(const fs::path& archive, const fs::path& shown, const ArchiveLimits& limits,
              std::unique_ptr<PrivateFolder> folder = nullptr)
      : taken_into(std::move(folder)), reader(archive, shown, limits) {}

  std::unique_ptr<PrivateFolder> taken_into;
  ArchiveReader reader;
};

/// The archives that are kept open while an OpenArchives object exists.
struct KeptArchives {
  std::mutex mutex;  ///< also held while a file is taken out
  int keepers = 0;
  std::map<std::string, std::shared_ptr<OpenArchive>> archives;

  static KeptArchives& instance() {
    static KeptArchives kept;
    return kept;
  }

  template <class Make>
  std::shared_ptr<OpenArchive> open(const std::string& key, Make&& make) {
    if (keepers == 0) return make();
    auto& archive = archives[key];
    if (!archive) archive = make();
    return archive;
  }
};

/// A file that was replaced is another one.
std::string key_of(const fs::path& file) {
  std::error_code missing;  // the reader reports it
  const auto changed = fs::last_write_time(file, missing).time_since_epoch().count();
  return fmt::format("{}\n{}\n{}", file.string(), changed, fs::file_size(file, missing));
}

}  // namespace

OpenArchives::OpenArchives() {
  auto& kept = KeptArchives::instance();
  const std::lock_guard lock(kept.mutex);
  ++kept.keepers;
}

OpenArchives::~OpenArchives() {
  auto& kept = KeptArchives::instance();
  const std::lock_guard lock(kept.mutex);
  if (--kept.keepers == 0) kept.archives.clear();
}

UnpackedArchive::UnpackedArchive(const fs::path& archive, const ArchiveLimits& limits) {
  ArchiveReader(archive, archive, limits).unpack(folder_.content());
}

UnpackedArchive::UnpackedArchive(const LocatedFile& archive) {
  unpack_archive(archive, folder_.content());
}

void unpack_archive(const LocatedFile& archive, const fs::path& folder) {
  fs::create_directories(folder);
  ArchiveReader(archive.path(), archive.shown(), ArchiveLimits{}).unpack(folder);
}

fs::path outermost_file(const fs::path& path) {
  for (fs::path part = path; part.has_relative_path(); part = part.parent_path()) {
    if (is_file(part)) return part;
  }
  return path;
}

LocatedFile::LocatedFile(const fs::path& path, const ArchiveLimits& limits)
    : path_(outermost_file(path)), shown_(path) {
  fs::path inside = path.lexically_relative(path_).lexically_normal();
  if (inside.empty() || inside == ".") return;
  auto& kept = KeptArchives::instance();
  const std::lock_guard lock(kept.mutex);
  std::string key = key_of(path_);
  fs::path shown = path_;
  auto archive = kept.open(key, [&] { return std::make_shared<OpenArchive>(path_, shown, limits); });
  while (true) {
    fs::path entry;
    auto part = inside.begin();
    while (part != inside.end() && !archive->reader.has_file(entry.string())) entry /= *part++;
    if (!archive->reader.has_file(entry.string()))
      throw Error(ErrorCode::FileFailed, {FactCode::NoSuchFile, {path.string()}},
                  {.subsystem = {}, .variable = {}, .time = std::nullopt, .remedy = "Check its name and its folder"});
    inside = inside.lexically_relative(entry);
    const auto take_out = [&] {
      auto folder = std::make_unique<PrivateFolder>();
      archive->reader.extract(entry.string(), folder->content() / entry.filename());
      return folder;
    };
    if (inside == ".") {
      folder_ = take_out();
      path_ = folder_->content() / entry.filename();
      return;
    }
    key += "\n" + entry.string();
    shown /= entry;
    archive = kept.open(key, [&] {
      auto folder = take_out();
      const fs::path file = folder->content() / entry.filename();
      return std::make_shared<OpenArchive>(file, shown, limits, std::move(folder));
    });
  }
}

}  // namespace entrain::base
