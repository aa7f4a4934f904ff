#include "subsystem/fmi/elf_file.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <set>
#include <sstream>

#include "base/finally.hpp"

namespace entrain::subsystem {
namespace {

namespace fs = std::filesystem;

/// Read, not mapped: tools that watch a process (valgrind) take a mapped library for a loaded one.
std::vector<std::byte> bytes_of(const fs::path& path, std::streamoff most = std::numeric_limits<std::streamoff>::max(),
                                std::streamoff from = 0) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const std::streamoff size = std::min<std::streamoff>(file.tellg() - from, most);
  if (size <= 0) return {};
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  file.seekg(from);
  file.read(reinterpret_cast<char*>(bytes.data()), size);
  if (!file) bytes.clear();
  return bytes;
}

/// `count` entries at `offset`; none when they do not lie in the file.
template <class Entry>
std::span<const Entry> entries_at(std::span<const std::byte> bytes, std::uint64_t offset, std::uint64_t count) {
  const bool inside = offset <= bytes.size() && count <= (bytes.size() - offset) / sizeof(Entry);
  if (!inside || offset % alignof(Entry) != 0) return {};
  return {reinterpret_cast<const Entry*>(bytes.data() + offset), static_cast<std::size_t>(count)};
}

bool in_main_program(const void* address) {
  Dl_info found{};
  Dl_info program{};
  const auto* headers = reinterpret_cast<const void*>(::getauxval(AT_PHDR));  // they lie in the program
  return ::dladdr(address, &found) != 0 && ::dladdr(headers, &program) != 0 && found.dli_fbase == program.dli_fbase;
}

/// What the process has under this name for every library it loads; null = nothing.
void* of_process(const char* name) {
  return ::dlsym(RTLD_DEFAULT, name);
}

bool is_loaded(const std::string& name) {
  void* handle = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle != nullptr) ::dlclose(handle);
  return handle != nullptr;
}

/// The libraries in the same folder that it needs, directly or not, and that the process does not have yet.
std::vector<fs::path> brought_along(const fs::path& library) {
  std::vector<fs::path> found;
  std::set<std::string> seen{library.filename().string()};
  std::vector<fs::path> waiting{library};
  while (!waiting.empty()) {
    const fs::path file = waiting.back();
    waiting.pop_back();
    for (const auto& name : ElfFile(file).needed()) {
      const fs::path sibling = library.parent_path() / fs::path(name).filename();
      if (!seen.insert(sibling.filename().string()).second || is_loaded(name)) continue;
      std::error_code error;
      if (!fs::is_regular_file(sibling, error)) continue;
      found.push_back(sibling);
      waiting.push_back(sibling);
    }
  }
  return found;
}

/// Templates and inline functions are the same wherever they are defined: for libraries beside the FMU's own they are
/// no reason.
bool clashes(const ElfFile& file, bool with_weak) {
  const auto symbols = file.symbols();
  return std::any_of(symbols.begin(), symbols.end(), [&](const ElfFile::Symbol& symbol) {
    return symbol.defined && (with_weak || !symbol.weak) && of_process(symbol.name) != nullptr;
  });
}

/// Whether a loaded library itself, not one that it needs, defines the symbol.
bool defines(const std::string& library, const char* symbol) {
  void* handle = ::dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return false;
  Dl_info found{};
  link_map* map = nullptr;
  void* address = ::dlsym(handle, symbol);
  const bool known =
      address != nullptr && ::dladdr(address, &found) != 0 && ::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0;
  ::dlclose(handle);
  return known && reinterpret_cast<std::uintptr_t>(found.dli_fbase) == map->l_addr;
}

/// Whether `name` or what it needs is one of `libraries`, or cannot be known because it is not loaded yet.
bool leads_to(const std::string& name, const std::vector<std::string>& libraries, std::set<std::string>& seen) {
  if (std::find(libraries.begin(), libraries.end(), name) != libraries.end()) return true;
  if (!seen.insert(name).second) return false;
  void* handle = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return true;
  link_map* map = nullptr;
  const bool known = ::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0;
  const fs::path path = known ? map->l_name : "";
  ::dlclose(handle);
  const auto needed = ElfFile(path).needed();
  return std::any_of(needed.begin(), needed.end(),
                     [&](const std::string& each) { return leads_to(each, libraries, seen); });
}

/// Adds the needed libraries of which the program holds a copy of data that the file uses (std::cout): they work on the
/// copy, and the original stays untouched. The C library is not among them: what it copies (stderr) is the same there.
void add_copied(const ElfFile& file, std::vector<std::string>& libraries) {
  const auto symbols = file.symbols();
  for (const auto& name : file.needed()) {
    if (name.starts_with("libc.so") || std::find(libraries.begin(), libraries.end(), name) != libraries.end()) continue;
    const bool copied = std::any_of(symbols.begin(), symbols.end(), [&](const ElfFile::Symbol& symbol) {
      if (symbol.defined || !symbol.object) return false;
      const void* address = of_process(symbol.name);
      return address != nullptr && in_main_program(address) && defines(name, symbol.name);
    });
    if (copied) libraries.push_back(name);
  }
}

/// One entry of a dynamic table.
bool write_entry(const fs::path& path, std::size_t place, const Elf64_Dyn& entry) {
  std::error_code ignored;  // the writing reports it
  fs::permissions(path, fs::perms::owner_write, fs::perm_options::add, ignored);
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const auto written = ::pwrite(descriptor, &entry, sizeof entry, static_cast<off_t>(place));
  ::close(descriptor);
  return written == static_cast<ssize_t>(sizeof entry);
}

/// The beginning of any ELF file: of 32 and of 64 bits alike.
struct ElfBeginning {
  std::array<unsigned char, EI_NIDENT> ident;
  std::uint16_t type;
  std::uint16_t machine;
};

std::string machine_text(const ElfBeginning& file) {
  const bool swapped = file.ident[EI_DATA] == ELFDATA2MSB;
  const unsigned machine = swapped ? __builtin_bswap16(file.machine) : file.machine;
  const char* bits = file.ident[EI_CLASS] == ELFCLASS32 ? "32" : "64";
  switch (machine) {
    case EM_X86_64: return fmt::format("x86_64 ({} bits)", bits);
    case EM_386: return "x86 (32 bits)";
    case EM_AARCH64: return fmt::format("AArch64 ({} bits)", bits);
    case EM_ARM: return "ARM (32 bits)";
    case EM_RISCV: return fmt::format("RISC-V ({} bits)", bits);
    case EM_PPC64: return fmt::format("PowerPC ({} bits)", bits);
    default: return fmt::format("machine {} of ELF ({} bits)", machine, bits);
  }
}

/// Null = no ELF file.
const ElfBeginning* beginning_of(std::span<const std::byte> bytes) {
  const auto found = entries_at<ElfBeginning>(bytes, 0, 1);
  if (found.empty() || std::memcmp(found[0].ident.data(), ELFMAG, SELFMAG) != 0) return nullptr;
  return &found[0];
}

/// The loader maps what the program headers name, and a process that touches what lies beyond the end of the file dies.
/// The headers may lie anywhere: tools that change a library move them to its end.
bool is_cut_off(const fs::path& library, std::span<const std::byte> beginning) {
  const auto header = entries_at<Elf64_Ehdr>(beginning, 0, 1);
  std::error_code unknown;
  const std::uint64_t size = fs::file_size(library, unknown);
  if (header.empty() || unknown || header[0].e_phoff > size) return true;
  const auto count = header[0].e_phnum;
  const auto table = bytes_of(library, static_cast<std::streamoff>(count * sizeof(Elf64_Phdr)),
                              static_cast<std::streamoff>(header[0].e_phoff));
  const auto segments = entries_at<Elf64_Phdr>(table, 0, count);
  if (segments.size() != count) return true;
  return std::any_of(segments.begin(), segments.end(), [&](const Elf64_Phdr& segment) {
    return segment.p_type == PT_LOAD && (segment.p_offset > size || segment.p_filesz > size - segment.p_offset);
  });
}

/// Those of a list as the loader takes it ("a:b"), with $ORIGIN.
void add_folders(std::string list, const fs::path& origin, std::vector<fs::path>& folders) {
  for (const std::string_view name : {"${ORIGIN}", "$ORIGIN"}) {
    for (auto at = list.find(name); at != std::string::npos; at = list.find(name)) {
      list.replace(at, name.size(), origin.string());
    }
  }
  std::stringstream parts(list);
  for (std::string folder; std::getline(parts, folder, ':');) folders.emplace_back(folder);
}

/// Whether the loader finds a library of this name: it is loaded, in one of the folders, or in the loader's cache,
/// where its name is a string of its own or the end of a path.
bool is_known_to_loader(const std::string& name, const std::vector<fs::path>& folders) {
  if (is_loaded(name)) return true;
  std::error_code none;
  if (name.find('/') != std::string::npos) return fs::exists(name, none);
  if (std::any_of(folders.begin(), folders.end(), [&](const auto& folder) { return fs::exists(folder / name, none); }))
    return true;
  static const auto cache = bytes_of("/etc/ld.so.cache");
  const std::string_view text(reinterpret_cast<const char*>(cache.data()), cache.size());
  const std::string ended = name + '\0';
  for (auto at = text.find(ended); at != std::string_view::npos; at = text.find(ended, at + 1)) {
    if (at > 0 && (text[at - 1] == '\0' || text[at - 1] == '/')) return true;
  }
  return false;
}

}  // namespace

std::optional<ElfMisfit> elf_misfit(const fs::path& library) {
  const auto bytes = bytes_of(library, sizeof(Elf64_Ehdr));
  const auto own = bytes_of("/proc/self/exe", sizeof(Elf64_Ehdr));
  const auto* file = beginning_of(bytes);
  const auto* present = beginning_of(own);
  if (file == nullptr) return ElfMisfit{.why = bytes.empty() ? "it is empty" : "it does not begin as an ELF file"};
  if (present != nullptr && machine_text(*file) != machine_text(*present)) {
    return ElfMisfit{.machine = machine_text(*file), .present = machine_text(*present)};
  }
  if (file->type != ET_DYN) return ElfMisfit{.why = "it is no shared library, but another kind of ELF file"};
  if (file->ident[EI_CLASS] == ELFCLASS64 && is_cut_off(library, bytes)) return ElfMisfit{.why = "it is cut off"};
  return std::nullopt;
}

std::vector<std::string> missing_libraries(const fs::path& library) {
  std::vector<fs::path> files = brought_along(library);
  files.insert(files.begin(), library);
  std::vector<fs::path> folders{"/lib", "/usr/lib", "/lib64", "/usr/lib64"};
  if (const char* path = std::getenv("LD_LIBRARY_PATH")) add_folders(path, {}, folders);
  std::vector<std::string> missing;
  for (const auto& file : files) {
    const ElfFile elf(file);
    auto searched = folders;
    searched.push_back(library.parent_path());  // where those are loaded from that come with the FMU
    for (const auto& list : elf.search_paths()) add_folders(list, file.parent_path(), searched);
    for (const auto& name : elf.needed()) {
      const bool seen = std::find(missing.begin(), missing.end(), name) != missing.end();
      if (!seen && !is_known_to_loader(name, searched)) missing.push_back(name);
    }
  }
  return missing;
}

ElfFile::ElfFile(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  const base::Finally close([&] { ::close(descriptor); });
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || status.st_size <= 0) return;
  const auto size = static_cast<std::size_t>(status.st_size);
  content_.reset(static_cast<std::byte*>(std::calloc(size, 1)));
  if (content_ == nullptr) return;
  bytes_ = {content_.get(), size};
  if (!read(descriptor, 0, sizeof(Elf64_Ehdr))) return;
  const auto header = entries_at<Elf64_Ehdr>(bytes_, 0, 1);
  if (std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0) return;
  if (header[0].e_ident[EI_CLASS] != ELFCLASS64 || header[0].e_shentsize != sizeof(Elf64_Shdr)) return;
  if (!read(descriptor, header[0].e_shoff, header[0].e_shnum * sizeof(Elf64_Shdr))) return;
  sections_ = entries_at<Elf64_Shdr>(bytes_, header[0].e_shoff, header[0].e_shnum);
  for (const Elf64_Word type : {SHT_DYNSYM, SHT_DYNAMIC}) {
    const auto* table = section(type);
    if (table == nullptr) continue;
    read(descriptor, table->sh_offset, table->sh_size);
    if (table->sh_link >= sections_.size()) continue;
    const auto& names = sections_[table->sh_link];
    read(descriptor, names.sh_offset, names.sh_size);
  }
}

/// False where it does not lie in the file.
bool ElfFile::read(int descriptor, std::uint64_t offset, std::uint64_t count) {
  if (offset > bytes_.size() || count > bytes_.size() - offset) return false;
  while (count > 0) {
    const ssize_t got = ::pread(descriptor, bytes_.data() + offset, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    offset += static_cast<std::uint64_t>(got);
    count -= static_cast<std::uint64_t>(got);
  }
  return true;
}

const Elf64_Shdr* ElfFile::section(Elf64_Word type) const {
  const auto found =
      std::find_if(sections_.begin(), sections_.end(), [&](const Elf64_Shdr& each) { return each.sh_type == type; });
  return found == sections_.end() ? nullptr : &*found;
}

template <class Entry>
std::span<const Entry> ElfFile::table(const Elf64_Shdr* section) const {
  if (section == nullptr) return {};
  return entries_at<Entry>(bytes_, section->sh_offset, section->sh_size / sizeof(Entry));
}

/// Of the strings that belong to the table in `owner`; empty when there is none at `offset`.
const char* ElfFile::text(const Elf64_Shdr* owner, std::size_t offset) const {
  if (owner->sh_link >= sections_.size()) return "";
  const auto strings = table<char>(&sections_[owner->sh_link]);
  if (offset >= strings.size() || std::memchr(&strings[offset], 0, strings.size() - offset) == nullptr) return "";
  return &strings[offset];
}

std::vector<ElfFile::Symbol> ElfFile::symbols() const {
  const auto* from = section(SHT_DYNSYM);
  std::vector<Symbol> found;
  for (const auto& symbol : table<Elf64_Sym>(from)) {
    const unsigned binding = ELF64_ST_BIND(symbol.st_info);
    const bool defined = symbol.st_shndx != SHN_UNDEF;
    const unsigned visibility = ELF64_ST_VISIBILITY(symbol.st_other);
    if (binding == STB_LOCAL || (defined && visibility != STV_DEFAULT)) continue;
    const char* name = text(from, symbol.st_name);
    if (*name == '\0') continue;
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);  // some linkers leave it open where the symbol is not defined
    found.push_back({name, defined, binding != STB_GLOBAL, type == STT_OBJECT || type == STT_NOTYPE});
  }
  return found;
}

std::vector<std::string> ElfFile::dynamic_texts(std::initializer_list<Elf64_Sxword> tags) const {
  const auto* from = section(SHT_DYNAMIC);
  std::vector<std::string> found;
  for (const auto& entry : table<Elf64_Dyn>(from)) {
    if (entry.d_tag == DT_NULL) break;
    if (std::find(tags.begin(), tags.end(), entry.d_tag) != tags.end())
      found.emplace_back(text(from, entry.d_un.d_val));
  }
  return found;
}

/// The linkers of GNU leave some empty entries at the end of the table; where there is none, a count that only saves
/// the loader some time gives its place.
bool ElfFile::prefer_own_symbols(const fs::path& path) {
  std::optional<std::size_t> place;
  Elf64_Dyn entry{};
  {
    const ElfFile file(path);
    const auto* section = file.section(SHT_DYNAMIC);
    const auto entries = file.table<Elf64_Dyn>(section);
    const auto with_tag = [&](Elf64_Sxword tag) {
      return std::find_if(entries.begin(), entries.end(), [&](const Elf64_Dyn& each) { return each.d_tag == tag; });
    };
    const auto end = with_tag(DT_NULL);
    if (with_tag(DT_SYMBOLIC) < end) return true;
    auto chosen = entries.end();
    if (const auto flags = with_tag(DT_FLAGS); flags < end) {
      entry = *flags;
      entry.d_un.d_val |= DF_SYMBOLIC;
      chosen = flags;
    } else {
      entry.d_tag = DT_SYMBOLIC;
      const bool spare = end != entries.end() && end + 1 != entries.end() && (end + 1)->d_tag == DT_NULL;
      chosen = spare ? end : with_tag(DT_RELACOUNT);
      if (!spare && chosen >= end) return false;
    }
    place = section->sh_offset + static_cast<std::size_t>(chosen - entries.begin()) * sizeof(Elf64_Dyn);
  }
  return write_entry(path, *place, entry);
}

/// The entry stays, with a tag that means nothing to the loader.
bool ElfFile::leave_to_process(const fs::path& path, const std::vector<std::string>& libraries) {
  std::vector<std::size_t> places;
  {
    const ElfFile file(path);
    const auto* section = file.section(SHT_DYNAMIC);
    std::size_t place = section == nullptr ? 0 : section->sh_offset;
    for (const auto& entry : file.table<Elf64_Dyn>(section)) {
      const bool named = entry.d_tag == DT_NEEDED && std::find(libraries.begin(), libraries.end(),
                                                               file.text(section, entry.d_un.d_val)) != libraries.end();
      if (named) places.push_back(place);
      place += sizeof(Elf64_Dyn);
    }
  }
  return std::all_of(places.begin(), places.end(), [&](std::size_t place) {
    Elf64_Dyn nothing{};
    nothing.d_tag = DT_LOOS;
    return write_entry(path, place, nothing);
  });
}

ElfLoading required_loading(const fs::path& library) {
  ElfLoading loading;
  const ElfFile file(library);
  loading.own_symbols = clashes(file, true);
  add_copied(file, loading.copied);
  for (const auto& sibling : brought_along(library)) {
    const ElfFile brought(sibling);
    loading.apart = loading.apart || clashes(brought, false);
    add_copied(brought, loading.copied);
  }
  return loading;
}

bool use_copies(const fs::path& library, const std::vector<std::string>& copied) {
  if (copied.empty()) return true;
  auto files = brought_along(library);
  std::set<std::string> seen;  // those that are brought lead nowhere else
  for (const auto& file : files) seen.insert(file.filename().string());
  files.push_back(library);
  for (const auto& file : files) {
    for (const auto& name : ElfFile(file).needed()) {
      const bool is_copied = std::find(copied.begin(), copied.end(), name) != copied.end();
      if (!is_copied && leads_to(name, copied, seen)) return false;
    }
  }
  return std::all_of(files.begin(), files.end(),
                     [&](const fs::path& file) { return ElfFile::leave_to_process(file, copied); });
}

}  // namespace entrain::subsystem
