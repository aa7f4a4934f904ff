#include "entrain/worker.hpp"

#include <cstdio>

int main() {
  const int code = entrain::serve_worker();
  std::fputs("entrain-worker: started by 'entrain' for subsystems with 'isolate'; it does nothing by itself\n", stderr);
  return code;
}
