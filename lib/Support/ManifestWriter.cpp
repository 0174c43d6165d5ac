//===- ManifestWriter.cpp - a manifest as JSON ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Manifest.cpp reads.
//
//===----------------------------------------------------------------------===//

#include "SizeExprJson.h"

#include "blockscale/Support/Manifest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <bit>
#include <cmath>

namespace blockscale::rt {
namespace {

using llvm::json::Object;
using llvm::json::Value;

/// The number, or the expression in its place.
Value extentToJson(int64_t number, const Expr &expr) {
  return expr ? Value(Object{{"expr", exprToJson(*expr)}}) : Value(number);
}

template <typename T> llvm::json::Array extentsToJson(const T &values, llvm::ArrayRef<Expr> exprs) {
  llvm::json::Array array;
  for (auto [i, value] : llvm::enumerate(values))
    array.push_back(extentToJson(int64_t(value), i < exprs.size() ? exprs[i] : Expr()));
  return array;
}

Value toJson(const ManifestSize &size) {
  return Object{{"name", size.name}, {"least", int64_t(size.least)}, {"most", int64_t(size.most)}};
}

Value toJson(const ManifestBuffer &buffer) {
  Object object{{"name", buffer.name},
                {"bytes", extentToJson(int64_t(buffer.bytes), buffer.bytesExpr)},
                {"role", llvm::StringRef(kBufferRoleNames[size_t(buffer.role)])}};
  if (buffer.dtype) {
    object["dtype"] = llvm::StringRef(name(*buffer.dtype));
    object["shape"] = extentsToJson(buffer.shape, buffer.shapeExprs);
  }
  return object;
}

Value scalarToJson(ScalarType type, uint64_t bits) {
  switch (type) {
  case ScalarType::f32:
  case ScalarType::f64: {
    double value = type == ScalarType::f64 ? std::bit_cast<double>(bits)
                                           : double(std::bit_cast<float>(uint32_t(bits)));
    if (std::isfinite(value))
      return value;
    return "0x" + llvm::utohexstr(bits, /*LowerCase=*/true);
  }
  case ScalarType::i32:
    return int64_t(int32_t(bits));
  case ScalarType::u32:
    return int64_t(uint32_t(bits));
  case ScalarType::i64:
    return int64_t(bits);
  case ScalarType::u64:
    return bits;
  }
  return nullptr;
}

template <typename T> llvm::json::Array integersToJson(const T &values) {
  llvm::json::Array array;
  for (auto value : values)
    array.push_back(int64_t(value));
  return array;
}

Object mapToJson(const facts::TensorMap &map, const ManifestMapExprs &exprs) {
  std::vector<uint32_t> elementStrides = map.elementStrides;
  elementStrides.resize(map.dims.size(), 1);
  return Object{{"type", llvm::StringRef(name(map.type))},
                {"dims", extentsToJson(map.dims, exprs.dims)},
                {"strides", extentsToJson(map.strides, exprs.strides)},
                {"box", integersToJson(map.box)},
                {"element_strides", integersToJson(elementStrides)},
                {"swizzle", llvm::StringRef(name(map.swizzle))},
                {"fill", llvm::StringRef(name(map.fill))},
                {"l2", llvm::StringRef(name(map.l2))}};
}

Object withOffset(Object object, uint64_t offset, const Expr &expr = {}) {
  if (offset || expr)
    object["offset"] = extentToJson(int64_t(offset), expr);
  return object;
}

Value toJson(const ManifestParam &param) {
  if (!param.argument.empty())
    return Object{{"kind", "scalar"},
                  {"type", llvm::StringRef(name(param.type))},
                  {"argument", param.argument}};
  if (param.kind == ManifestParam::Kind::scalar)
    return Object{{"kind", "scalar"},
                  {"type", llvm::StringRef(kScalarTypeNames[size_t(param.type)])},
                  {"value", param.bitsExpr ? extentToJson(0, param.bitsExpr)
                                           : scalarToJson(param.type, param.bits)}};
  if (param.kind == ManifestParam::Kind::buffer)
    return withOffset(Object{{"kind", "buffer"}, {"buffer", param.buffer}}, param.offset,
                      param.offsetExpr);
  if (param.kind == ManifestParam::Kind::tensorMap) {
    Object object = mapToJson(param.map, param.mapExprs);
    object["kind"] = "tensor_map";
    object["buffer"] = param.buffer;
    return withOffset(std::move(object), param.offset, param.offsetExpr);
  }
  Object object{{"kind", "bytes"}, {"value", llvm::toHex(param.bytes, /*LowerCase=*/true)}};
  llvm::json::Array pointers, maps;
  for (const ManifestAddress &pointer : param.pointers)
    pointers.push_back(withOffset(Object{{"at", int64_t(pointer.at)}, {"buffer", pointer.buffer}},
                                  pointer.offset));
  for (const ManifestMap &map : param.maps) {
    Object item = mapToJson(map.map, map.exprs);
    item["at"] = int64_t(map.address.at);
    item["buffer"] = map.address.buffer;
    maps.push_back(withOffset(std::move(item), map.address.offset));
  }
  if (!pointers.empty())
    object["pointers"] = std::move(pointers);
  if (!maps.empty())
    object["tensor_maps"] = std::move(maps);
  return object;
}

Value toJson(const ManifestKernel &kernel) {
  llvm::json::Array params;
  for (const ManifestParam &param : kernel.params)
    params.push_back(toJson(param));
  Object object{{"name", kernel.name},
                {"grid", extentsToJson(kernel.grid, kernel.gridExprs)},
                {"block", integersToJson(kernel.block)},
                {"cluster", integersToJson(kernel.cluster)},
                {"shared_bytes", int64_t(kernel.sharedBytes)},
                {"shared_mode", llvm::StringRef(kSharedModeNames[size_t(kernel.sharedMode)])},
                {"params", std::move(params)}};
  if (kernel.preferredCluster[0])
    object["preferred_cluster"] = integersToJson(kernel.preferredCluster);
  if (kernel.programmaticStreamSerialization)
    object["programmatic_stream_serialization"] = true;
  if (kernel.registers)
    object["registers"] = int64_t(kernel.registers);
  return object;
}

} // namespace

std::string formatManifest(const Manifest &manifest) {
  llvm::json::Array sizes, buffers, kernels;
  for (const ManifestSize &size : manifest.sizes)
    sizes.push_back(toJson(size));
  for (const ManifestBuffer &buffer : manifest.buffers)
    buffers.push_back(toJson(buffer));
  for (const ManifestKernel &kernel : manifest.kernels)
    kernels.push_back(toJson(kernel));
  Object root{{"version", kManifestVersion},
              {"arch", llvm::StringRef(name(manifest.arch))},
              {"buffers", std::move(buffers)},
              {"kernels", std::move(kernels)}};
  if (!sizes.empty())
    root["sizes"] = std::move(sizes);
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv("{0:2}", Value(std::move(root))) << '\n';
  return text;
}

} // namespace blockscale::rt
