//===- Manifest.h - how the kernels of a PTX file are launched ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The JSON that goes with PTX text: device buffers, and for each kernel its
// grid, block, cluster, shared memory and parameters, with every field of a
// tensor map. Written by blockscale-translate from the same ops that runtime
// calls come from; read by blockscale-run and by frontends with own host code.
// The format is described in docs/Manifest.md.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_MANIFEST_H
#define BLOCKSCALE_SUPPORT_MANIFEST_H

#include "blockscale/Facts/Arch.h"
#include "blockscale/Facts/TensorMap.h"
#include "blockscale/Support/Array.h"
#include "blockscale/Support/Scalar.h"
#include "blockscale/Support/SizeExpr.h"

namespace blockscale::rt {

// Ranges of fields, of numbers and of expressions alike.
inline constexpr uint64_t kMaxGridX = 0x7FFFFFFF; // CUDA programming guide, compute capabilities
inline constexpr uint64_t kMaxGridYZ = 65535;
inline constexpr uint64_t kMaxManifestBytes = uint64_t(1) << 40;
inline constexpr uint64_t kMaxManifestCount = uint64_t(1) << 40;

inline constexpr int64_t kManifestVersion = 1;

/// What a buffer is for: who writes it before the first launch, and whether it
/// is read back after the last. `zeroed` is scratch memory that starts as zeroes.
enum class BufferRole : uint8_t { input, output, inout, scratch, zeroed };
inline constexpr std::array<std::string_view, 5> kBufferRoleNames{"input", "output", "inout",
                                                                  "scratch", "zeroed"};

/// `oversized` opts in to more shared memory than the ordinary limit of a block.
enum class SharedMode : uint8_t { standard, oversized };
inline constexpr std::array<std::string_view, 2> kSharedModeNames{"default", "oversized"};

/// A size that only a launch knows, and what it may be.
struct ManifestSize {
  std::string name;
  uint64_t least = 0, most = 0;
};

struct ManifestBuffer {
  std::string name;
  uint64_t bytes = 0;
  Expr bytesExpr;               // in place of `bytes`
  std::vector<Expr> shapeExprs; // of each dimension that has one; else empty
  BufferRole role = BufferRole::input;
  std::optional<DType> dtype; // absent: plain bytes
  std::vector<int64_t> shape; // with dtype; its size is `bytes`, or 0
};

/// What is filled in at launch: the address of a byte of a buffer, or an encoded map.
struct ManifestAddress {
  uint32_t at = 0; // where in the parameter, bytes
  std::string buffer;
  uint64_t offset = 0; // of the byte that is pointed to, or where the map's tensor starts
};
/// Dimensions and strides of a map that are expressions; empty where none is.
struct ManifestMapExprs {
  std::vector<Expr> dims, strides;
};
struct ManifestMap {
  ManifestAddress address;
  facts::TensorMap map;
  ManifestMapExprs exprs;
};

struct ManifestParam {
  enum class Kind : uint8_t { tensorMap, buffer, scalar, bytes };
  Kind kind = Kind::buffer;
  std::string buffer;   // tensorMap, buffer
  uint64_t offset = 0;  // of them: bytes from the buffer's start
  Expr offsetExpr;      // in place of `offset`
  facts::TensorMap map; // tensorMap; its address is filled in at launch
  ManifestMapExprs mapExprs;
  ScalarType type = ScalarType::f32;
  uint64_t bits = 0;    // scalar: the value's bits, low bytes first
  Expr bitsExpr;        // in place of `bits` of an integer
  std::string argument; // scalar whose value only a launch knows; else empty

  /// bytes: a struct by value.
  std::vector<uint8_t> bytes;
  std::vector<ManifestAddress> pointers;
  std::vector<ManifestMap> maps;
};

struct ManifestKernel {
  std::string name;
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  std::array<Expr, 3> gridExprs; // where it has one; a grid of 0 launches nothing
  std::array<uint32_t, 3> preferredCluster{0, 0, 0}; // none
  uint64_t sharedBytes = 0;
  SharedMode sharedMode = SharedMode::standard;
  bool programmaticStreamSerialization = false; // may overlap with the kernel before
  uint32_t registers = 0;                       // of a thread; 0: not said
  std::vector<ManifestParam> params;
};

/// A scalar that a launch must be given; parameters of one name share it.
struct ManifestArgument {
  std::string name;
  ScalarType type = ScalarType::f32;
};

struct Manifest {
  facts::Arch arch = facts::Arch::sm_100a;
  std::vector<ManifestSize> sizes;
  std::vector<ManifestBuffer> buffers;
  std::vector<ManifestKernel> kernels;

  const ManifestBuffer *findBuffer(std::string_view name) const;
  const ManifestSize *findSize(std::string_view name) const;
  /// In the order of their first use.
  std::vector<ManifestArgument> arguments() const;
};

/// The most that a parameter list holds (PTX ISA 9.4, 5.1.6: 32,764 bytes from sm_70 on).
inline constexpr size_t kMaxParamBytes = 32764;

/// Refusals name the field by its path: "manifest: 'k.json' kernels[0].grid[1]
/// must be 1 to 2147483647, got 0".
Result<Manifest> parseManifest(std::string_view text, std::string_view subject);
Result<Manifest> readManifest(const std::string &path);

/// The manifest of one launch: every expression becomes its number. Refused where a size is
/// missing, unknown or out of its range, or a number out of its field's. One without sizes
/// stays as it is.
Result<Manifest> resolveManifest(const Manifest &manifest, const Sizes &sizes,
                                 std::string_view subject);

/// Stable text: the same manifest gives the same bytes.
std::string formatManifest(const Manifest &manifest);

} // namespace blockscale::rt

#endif // BLOCKSCALE_SUPPORT_MANIFEST_H
