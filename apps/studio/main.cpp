#include <signal.h>
#include <spawn.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <thread>

#include "studio/page.hpp"
#include "studio/studio.hpp"

extern char** environ;

namespace {

/// Where there is a desktop.
void open_in_browser(std::string url) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return;
  std::string opener = "xdg-open";
  std::array<char*, 3> words{opener.data(), url.data(), nullptr};
  pid_t child = 0;
  ::posix_spawnp(&child, opener.c_str(), nullptr, nullptr, words.data(), environ);
}

}  // namespace

// Started by 'entrain studio': entrain-studio PROGRAM FOLDER SYSTEM ADDRESS PORT SANDBOX BROWSER. Prints the address of
// the page to the standard output, and ends with SIGINT, SIGTERM or SIGHUP.
int main(int argc, char** argv) {
  if (argc != 8) {
    std::fputs("entrain-studio: started by 'entrain studio'; it does nothing by itself\n", stderr);
    return 2;
  }
  if (entrain::studio::page_template().empty()) {
    std::fputs("entrain: this program was built without its page; build it where npm (Node 18 or newer) is installed\n",
               stderr);
    return 1;
  }
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  sigset_t ends;
  ::sigemptyset(&ends);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&ends, signal);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);  // of all threads: one waits for them
  try {
    entrain::studio::StudioOptions options;
    options.program = argv[1];
    options.folder = argv[2];
    options.system = argv[3];
    options.address = argv[4];
    options.port = std::atoi(argv[5]);
    options.sandbox = std::strcmp(argv[6], "sandbox") == 0;
    entrain::studio::Studio studio(options);
    std::thread waiting([&] {
      int signal = 0;
      ::sigwait(&ends, &signal);
      studio.stop();
    });
    std::printf("%s\nCtrl-C ends the studio; what runs goes on.\n", studio.url().c_str());
    std::fflush(stdout);
    if (std::strcmp(argv[7], "open") == 0) open_in_browser(studio.url());
    studio.serve();
    waiting.join();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "entrain: %s\n", error.what());
    return 1;
  }
  return 0;
}
