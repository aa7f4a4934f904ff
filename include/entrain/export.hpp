#pragma once

/// Marks what the shared library shows; everything else stays inside.
#define ENTRAIN_API __attribute__((visibility("default")))
