#include "worker/sandbox.hpp"

#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <system_error>

#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::worker {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTool = "bwrap";

fs::path tool() {
  const char* path = std::getenv("PATH");
  std::stringstream folders(path == nullptr ? "/usr/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path file = fs::path(folder) / kTool;
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  throw Error(ErrorCode::FileFailed,
              {FactCode::SandboxUnavailable, {}, {{"why", "the program 'bwrap' was not found in the PATH"}}},
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Install bubblewrap (apt install bubblewrap)"});
}

/// Where libraries lie; on many systems links into /usr.
void add_system(std::vector<std::string>& command) {
  command.insert(command.end(), {"--ro-bind", "/usr", "/usr"});
  for (const char* folder : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    std::error_code none;
    if (fs::is_symlink(folder, none)) {
      command.insert(command.end(), {"--symlink", fs::read_symlink(folder, none).string(), folder});
    } else if (fs::is_directory(folder, none)) {
      command.insert(command.end(), {"--ro-bind", folder, folder});
    }
  }
  for (const char* file : {"/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime"}) {
    command.insert(command.end(), {"--ro-bind-try", file, file});
  }
}

[[noreturn]] void fail_confining(int error, const char* what) {
  throw std::system_error(error, std::generic_category(), what);
}

void check_rule(int result) {
  if (result < 0) fail_confining(-result, "seccomp");
}

/// What this process has of it already: its own heap and stacks; terabytes where a sanitizer maps memory.
std::uint64_t memory_in_use() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;
  for (int field = 0; field < 6; ++field) file >> pages;  // size, resident, shared, text, library, data
  return file ? pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

void limit_memory(std::uint64_t bytes) {
  const std::uint64_t all = memory_in_use() + bytes;
  const rlimit limit{all, all};
  if (::setrlimit(RLIMIT_DATA, &limit) != 0) fail_confining(errno, "memory limit");
}

/// What it shares with the run is a file that it can make longer; what is refused is an error, no signal.
void limit_files(std::uint64_t bytes) {
  const rlimit limit{bytes, bytes};
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) fail_confining(errno, "limit of files");
  ::signal(SIGXFSZ, SIG_IGN);
}

/// Pipes hold memory of the kernel.
void limit_descriptors() {
  constexpr rlim_t kMost = 1024;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max = std::min(limit.rlim_max, kMost);
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) fail_confining(errno, "limit of descriptors");
}

/// Threads are allowed. io_uring would do what is refused here without the calls that are refused; the rest is for
/// administrators of the machine.
void forbid_calls() {
  const std::unique_ptr<void, void (*)(void*)> filter(::seccomp_init(SCMP_ACT_ALLOW), ::seccomp_release);
  if (!filter) fail_confining(ENOMEM, "seccomp");
  const auto refuse = [&](int call) { check_rule(::seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EPERM), call, 0)); };
  for (const int call : {SCMP_SYS(socket), SCMP_SYS(socketpair), SCMP_SYS(connect), SCMP_SYS(bind), SCMP_SYS(listen)})
    refuse(call);
  for (const int call : {SCMP_SYS(fork), SCMP_SYS(vfork), SCMP_SYS(execve), SCMP_SYS(execveat)}) refuse(call);
  for (const int call :
       {SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(io_uring_setup),
        SCMP_SYS(unshare), SCMP_SYS(setns), SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(pivot_root), SCMP_SYS(chroot),
        SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(keyctl), SCMP_SYS(add_key),
        SCMP_SYS(request_key), SCMP_SYS(kexec_load), SCMP_SYS(init_module), SCMP_SYS(finit_module)})
    refuse(call);
  const scmp_arg_cmp no_thread{0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0};
  check_rule(::seccomp_rule_add_array(filter.get(), SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1, &no_thread));
  // Its flags lie in memory, which a filter cannot see; the C library makes threads with clone then.
  check_rule(::seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0));
  // Memory that RLIMIT_DATA does not count. What is left is files: those for temporary files have a limit of their own.
  refuse(SCMP_SYS(memfd_create));
  refuse(SCMP_SYS(shmget));
  const scmp_arg_cmp shared{3, SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS | MAP_TYPE, MAP_ANONYMOUS | MAP_SHARED};
  check_rule(::seccomp_rule_add_array(filter.get(), SCMP_ACT_ERRNO(ENOMEM), SCMP_SYS(mmap), 1, &shared));
  check_rule(::seccomp_load(filter.get()));
}

}  // namespace

std::vector<std::string> sandboxed_command(const fs::path& program, const SandboxFolders& folders) {
  std::vector<std::string> command{tool().string(), "--unshare-all", "--die-with-parent", "--new-session"};
  add_system(command);
  command.insert(command.end(), {"--proc", "/proc", "--dev", "/dev"});
  command.insert(command.end(), {"--dev-bind", "/dev/null", "/dev/zero"});  // shared, it is memory that no limit counts
  const std::string worker = fs::absolute(program).string();
  if (!worker.starts_with("/usr/")) command.insert(command.end(), {"--ro-bind", worker, worker});
  command.insert(command.end(), {"--ro-bind", folders.own.string(), folders.own.string()});
  if (folders.most > 0) command.insert(command.end(), {"--size", std::to_string(folders.most)});
  command.insert(command.end(), {"--tmpfs", folders.scratch.string()});
  // What was made to mount these at: a file system in memory, which no limit counts.
  command.insert(command.end(), {"--remount-ro", "/dev", "--remount-ro", "/"});
  command.insert(command.end(), {"--chdir", folders.scratch.string(), "--", worker});
  return command;
}

std::vector<std::string> sandboxed_environment(const SandboxFolders& folders) {
  std::vector<std::string> variables{"TMPDIR=" + folders.scratch.string(), "HOME=" + folders.scratch.string(),
                                     "PATH=/usr/local/bin:/usr/bin:/bin"};
  for (const char* name : {"LANG", "LC_ALL", "TZ", "OMP_NUM_THREADS"}) {
    if (const char* value = std::getenv(name)) variables.push_back(std::string(name) + "=" + value);
  }
  return variables;
}

void confine(const Confinement& confinement) {
  if (confinement.memory > 0) limit_memory(confinement.memory);
  if (confinement.sandbox && confinement.memory > 0) limit_files(confinement.memory);
  if (!confinement.sandbox) return;
  limit_descriptors();
  forbid_calls();
}

}  // namespace entrain::worker
