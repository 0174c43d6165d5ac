//===- ManifestSizes.cpp - a manifest of one launch -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the reader checks of numbers is checked of expressions here, once sizes are known.
//
//===----------------------------------------------------------------------===//

#include "Echo.h"

#include "blockscale/Support/Manifest.h"

#include <limits>

namespace blockscale::rt {

namespace {

/// Puts numbers in place of expressions and keeps the first that is out of range.
class Resolver {
public:
  Resolver(Manifest manifest, const Sizes &sizes) : manifest(std::move(manifest)), sizes(sizes) {}

  /// What is wrong, or an empty string.
  std::string run() {
    checkSizes();
    for (size_t i = 0; i < manifest.buffers.size(); ++i)
      resolve(manifest.buffers[i], "buffers[" + std::to_string(i) + "]");
    for (size_t i = 0; i < manifest.kernels.size(); ++i)
      resolve(manifest.kernels[i], "kernels[" + std::to_string(i) + "]");
    manifest.sizes.clear();
    return error;
  }

  Manifest manifest;

private:
  void fail(const std::string &where, const std::string &rule) {
    if (error.empty())
      error = where + " must " + rule;
  }

  void checkSizes() {
    for (const auto &[name, value] : sizes)
      if (!manifest.findSize(name))
        fail("size", "be one of the manifest's, got '" + name + "'");
    for (const ManifestSize &size : manifest.sizes) {
      auto it = sizes.find(size.name);
      std::string range = std::to_string(size.least) + " to " + std::to_string(size.most);
      if (it == sizes.end())
        fail("size '" + size.name + "'", "be given, " + range + ", got none");
      else if (it->second < size.least || it->second > size.most)
        fail("size '" + size.name + "'", "be " + range + ", got " + std::to_string(it->second));
    }
  }

  template <typename T>
  void resolve(T &number, Expr &expr, const std::string &where, uint64_t least, uint64_t most) {
    if (!expr || !error.empty())
      return;
    Result<uint64_t> value = evaluate(*expr, sizes);
    if (!value)
      return fail(where, value.message());
    if (*value < least || *value > most)
      return fail(where, "be " + std::to_string(least) + " to " + std::to_string(most) + ", got " +
                             std::to_string(*value) + " of " + formatExpr(*expr));
    number = T(*value);
    expr = {};
  }
  template <typename T>
  void resolve(std::vector<T> &numbers, std::vector<Expr> &exprs, const std::string &where,
               uint64_t least, uint64_t most) {
    for (size_t i = 0; i < exprs.size(); ++i)
      resolve(numbers[i], exprs[i], where + "[" + std::to_string(i) + "]", least, most);
    if (error.empty())
      exprs.clear();
  }

  void resolve(ManifestBuffer &buffer, const std::string &path) {
    bool isKnown = !buffer.bytesExpr && buffer.shapeExprs.empty();
    resolve(buffer.bytes, buffer.bytesExpr, path + ".bytes", 1, kMaxManifestBytes);
    resolve(buffer.shape, buffer.shapeExprs, path + ".shape", 0, kMaxManifestCount);
    if (isKnown || !buffer.dtype || !error.empty())
      return;
    // What holds nothing has a buffer all the same.
    std::optional<uint64_t> bytes = byteSize(*buffer.dtype, buffer.shape);
    if (!bytes || (*bytes && *bytes != buffer.bytes))
      fail(path + ".bytes", "be the size of " + std::string(name(*buffer.dtype)) + " " +
                                formatShape(buffer.shape) + ", got " +
                                std::to_string(buffer.bytes));
  }

  void resolve(facts::TensorMap &map, ManifestMapExprs &exprs, const std::string &path) {
    resolve(map.dims, exprs.dims, path + ".dims", 1, kMaxManifestCount);
    resolve(map.strides, exprs.strides, path + ".strides", 0, kMaxManifestCount);
  }

  void resolve(ManifestKernel &kernel, const std::string &path) {
    for (size_t i = 0; i < 3; ++i) {
      std::string where = path + ".grid[" + std::to_string(i) + "]";
      resolve(kernel.grid[i], kernel.gridExprs[i], where, 0, i ? kMaxGridYZ : kMaxGridX);
      for (uint32_t cluster : {kernel.cluster[i], kernel.preferredCluster[i]})
        if (cluster && kernel.grid[i] % cluster)
          fail(where, "be a multiple of the cluster's " + std::to_string(cluster) + ", got " +
                          std::to_string(kernel.grid[i]));
    }
    for (size_t i = 0; i < kernel.params.size(); ++i) {
      ManifestParam &param = kernel.params[i];
      std::string where = path + ".params[" + std::to_string(i) + "]";
      resolve(param.map, param.mapExprs, where);
      resolve(param.offset, param.offsetExpr, where + ".offset", 0, kMaxManifestBytes);
      checkOffset(param.buffer, param.offset, where);
      for (size_t j = 0; j < param.pointers.size(); ++j)
        checkOffset(param.pointers[j].buffer, param.pointers[j].offset,
                    where + ".pointers[" + std::to_string(j) + "]");
      for (size_t j = 0; j < param.maps.size(); ++j) {
        std::string map = where + ".tensor_maps[" + std::to_string(j) + "]";
        resolve(param.maps[j].map, param.maps[j].exprs, map);
        checkOffset(param.maps[j].address.buffer, param.maps[j].address.offset, map);
      }
      resolve(param.bits, param.bitsExpr, where + ".value", 0, mostOf(param.type));
    }
  }

  void checkOffset(const std::string &name, uint64_t offset, const std::string &where) {
    const ManifestBuffer *buffer = manifest.findBuffer(name);
    if (buffer && offset > buffer->bytes)
      fail(where + ".offset",
           "be 0 to " + std::to_string(buffer->bytes) + ", got " + std::to_string(offset));
  }

  static uint64_t mostOf(ScalarType type) {
    switch (type) {
    case ScalarType::i32:
      return std::numeric_limits<int32_t>::max();
    case ScalarType::u32:
      return std::numeric_limits<uint32_t>::max();
    case ScalarType::i64:
      return std::numeric_limits<int64_t>::max();
    default:
      return std::numeric_limits<uint64_t>::max();
    }
  }

  const Sizes &sizes;
  std::string error;
};

} // namespace

Result<Manifest> resolveManifest(const Manifest &manifest, const Sizes &sizes,
                                 std::string_view subject) {
  Resolver resolver(manifest, sizes);
  if (std::string error = resolver.run(); !error.empty())
    return Refusal{"manifest: '" + std::string(subject) + "' " + echo(error)};
  return std::move(resolver.manifest);
}

} // namespace blockscale::rt
