#pragma once

namespace entrain::base {

/// As long as one exists, an archive that files are taken out of (LocatedFile) is opened and checked once, not once for
/// each file: a package with 500 FMUs has 500 of them. One that lies in another is taken out once. An archive that
/// changes on disk is opened again.
class OpenArchives {
 public:
  OpenArchives();
  ~OpenArchives();
  OpenArchives(const OpenArchives&) = delete;
  OpenArchives& operator=(const OpenArchives&) = delete;
};

}  // namespace entrain::base
