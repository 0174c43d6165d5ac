//===- Manifest.cpp - how the kernels of a PTX file are launched ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reader stops at the first field that is wrong. Legality of tensor maps is left to
// whoever encodes them; here only the fields' own ranges are checked.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Manifest.h"

#include "Echo.h"
#include "ManifestFields.h"

#include "blockscale/Facts/Registers.h"

#include <map>

namespace blockscale::rt {

namespace {

using llvm::json::Object;
using llvm::json::Value;

constexpr uint64_t kMaxBlock = 1024;
constexpr uint64_t kMaxCluster = 16;
constexpr uint64_t kMaxBytes = kMaxManifestBytes;
constexpr size_t kMaxRank = 5;
constexpr size_t kTensorMapBytes = 128;
constexpr uint64_t kMaxCount = kMaxManifestCount;

ManifestBuffer parseBuffer(const Value &value, const std::string &path, const Manifest &manifest,
                           std::string &error) {
  Fields fields(value, path, error);
  ManifestBuffer buffer;
  buffer.name = fields.string("name");
  if (const Value *bytes = fields.get("bytes"))
    buffer.bytes = fields.extent(*bytes, "bytes", 1, kMaxBytes, manifest, buffer.bytesExpr);
  buffer.role = fields.choice<BufferRole>("role", kBufferRoleNames);
  if (fields.has("dtype")) {
    std::string text = fields.string("dtype");
    buffer.dtype = parseDType(text);
    if (!buffer.dtype) {
      std::string allowed;
      for (const DTypeInfo &row : kDTypes)
        allowed += (allowed.empty() ? "" : ", ") + std::string(row.name);
      fields.fail("dtype", "be one of " + allowed + ", got " + quoted(text));
    }
    buffer.shape =
        fields.extents<int64_t>("shape", 0, 8, 0, kMaxCount, manifest, buffer.shapeExprs);
    bool isKnown = !buffer.bytesExpr && buffer.shapeExprs.empty();
    if (fields.ok() && isKnown && byteSize(*buffer.dtype, buffer.shape) != buffer.bytes)
      fields.fail("bytes", "be the size of " + std::string(name(*buffer.dtype)) + " " +
                               formatShape(buffer.shape) + ", got " + std::to_string(buffer.bytes));
  }
  fields.finish();
  return buffer;
}

/// The 16-byte and 32-byte interleaved layouts are for images; nothing here has them.
constexpr std::array<std::string_view, 1> kInterleaveNames{"none"};

facts::TensorMap parseMap(Fields &fields, const Manifest &manifest, ManifestMapExprs &exprs) {
  facts::TensorMap map;
  map.type = fields.choice<facts::TmaType>("type", facts::kTmaTypeNames);
  map.dims = fields.extents<uint64_t>("dims", 1, kMaxRank, 1, kMaxCount, manifest, exprs.dims);
  size_t rank = std::max<size_t>(map.dims.size(), 1);
  map.strides = fields.extents<uint64_t>("strides", rank - 1, rank - 1, 0, kMaxCount, manifest,
                                         exprs.strides);
  map.box = fields.integers<uint32_t>("box", rank, rank, 1, 256);
  map.elementStrides = fields.integers<uint32_t>("element_strides", rank, rank, 1, 8);
  if (fields.has("interleave"))
    fields.choice<uint8_t>("interleave", kInterleaveNames);
  map.swizzle = fields.choice<facts::TmaSwizzle>("swizzle", facts::kTmaSwizzleNames);
  map.fill = fields.choice<facts::TmaFill>("fill", facts::kTmaFillNames);
  map.l2 = fields.choice<facts::TmaL2Promotion>("l2", facts::kTmaL2PromotionNames);
  return map;
}

/// A number, or its bits as "0x…" for what JSON cannot write (NaN, infinities).
uint64_t parseScalarValue(Fields &fields, ScalarType type) {
  const Value *value = fields.get("value");
  if (!value)
    return 0;
  std::optional<llvm::StringRef> text = value->getAsString();
  if (text ? text->starts_with("0x") : value->kind() == Value::Number)
    if (auto bits = parseScalar(text ? text->str() : show(*value), type))
      return *bits;
  fields.fail("value", "be a number of type " + std::string(name(type)) +
                           " or its bits as '0x…', got " + show(*value));
  return 0;
}

/// Two digits a byte, lowest address first; blanks between bytes.
std::vector<uint8_t> parseBytes(Fields &fields) {
  std::string text = fields.string("value");
  std::vector<uint8_t> bytes;
  llvm::StringRef rest = llvm::StringRef(text).ltrim(' ');
  for (; !rest.empty() && bytes.size() < kMaxParamBytes; rest = rest.ltrim(' ')) {
    unsigned byte = 0;
    if (rest.size() < 2 || rest.take_front(2).getAsInteger(16, byte))
      break;
    bytes.push_back(uint8_t(byte));
    rest = rest.drop_front(2);
  }
  if (fields.ok() && !rest.empty())
    fields.fail("value", "be at most " + std::to_string(kMaxParamBytes) +
                             " bytes of two hexadecimal digits, got " +
                             quoted(rest.take_front(20)) + " after " +
                             std::to_string(bytes.size()));
  return bytes;
}

/// Where a struct holds the address, its offset is a number: `expr` is null.
std::string parseBufferName(Fields &fields, const Manifest &manifest, uint64_t &offset,
                            Expr *expr = nullptr) {
  std::string name = fields.string("buffer");
  const ManifestBuffer *buffer = manifest.findBuffer(name);
  if (fields.ok() && !buffer)
    fields.fail("buffer", "name a buffer of the manifest, got " + quoted(name));
  if (!fields.ok() || !fields.has("offset"))
    return name;
  uint64_t most = buffer->bytesExpr ? kMaxBytes : buffer->bytes;
  offset = expr ? fields.extent(*fields.get("offset"), "offset", 0, most, manifest, *expr)
                : fields.integer("offset", 0, most);
  return name;
}

/// Where a pointer or a map of `size` bytes lies in a struct.
uint32_t parseAt(Fields &fields, const ManifestParam &param, size_t size) {
  size_t bytes = param.bytes.size();
  if (fields.ok() && bytes < size)
    fields.fail("at", "leave room for " + std::to_string(size) + " bytes of the value's " +
                          std::to_string(bytes));
  return fields.ok() ? uint32_t(fields.integer("at", 0, bytes - size)) : 0;
}

/// The addresses and maps that are filled into a struct.
void parseInsertions(Fields &fields, const std::string &path, const Manifest &manifest,
                     std::string &error, ManifestParam &param) {
  auto each = [&](llvm::StringRef key, auto parse) {
    if (!fields.ok() || !fields.has(key))
      return;
    const llvm::json::Array *items = fields.array(key, 0, kMaxParamBytes / 8);
    for (size_t i = 0; items && i < items->size() && fields.ok(); ++i) {
      Fields item((*items)[i], path + "." + key.str() + "[" + std::to_string(i) + "]", error);
      parse(item);
      item.finish();
    }
  };
  each("pointers", [&](Fields &item) {
    ManifestAddress address;
    address.at = parseAt(item, param, sizeof(uint64_t));
    address.buffer = parseBufferName(item, manifest, address.offset);
    param.pointers.push_back(std::move(address));
  });
  each("tensor_maps", [&](Fields &item) {
    ManifestMap map;
    map.address.at = parseAt(item, param, kTensorMapBytes);
    map.address.buffer = parseBufferName(item, manifest, map.address.offset);
    map.map = parseMap(item, manifest, map.exprs);
    param.maps.push_back(std::move(map));
  });
}

ManifestParam parseParam(const Value &value, const std::string &path, const Manifest &manifest,
                         std::string &error) {
  static constexpr std::array<std::string_view, 4> kKinds{"tensor_map", "buffer", "scalar",
                                                          "bytes"};
  Fields fields(value, path, error);
  ManifestParam param;
  param.kind = fields.choice<ManifestParam::Kind>("kind", kKinds);
  if (param.kind == ManifestParam::Kind::scalar) {
    param.type = fields.choice<ScalarType>("type", kScalarTypeNames);
    bool isInteger = param.type != ScalarType::f32 && param.type != ScalarType::f64;
    if (fields.has("argument"))
      param.argument = fields.string("argument");
    else if (const Value *number = fields.ok() && isInteger ? fields.get("value") : nullptr;
             number && number->getAsObject())
      fields.extent(*number, "value", 0, 0, manifest, param.bitsExpr);
    else
      param.bits = parseScalarValue(fields, param.type);
  } else if (param.kind == ManifestParam::Kind::bytes) {
    param.bytes = parseBytes(fields);
    parseInsertions(fields, path, manifest, error, param);
  } else {
    param.buffer = parseBufferName(fields, manifest, param.offset, &param.offsetExpr);
    if (param.kind == ManifestParam::Kind::tensorMap)
      param.map = parseMap(fields, manifest, param.mapExprs);
  }
  fields.finish();
  return param;
}

/// A larger size than `cluster`, of which it is a multiple: blocks fall back to the latter.
void parsePreferredCluster(Fields &fields, ManifestKernel &kernel) {
  auto preferred = fields.dim3("preferred_cluster", kMaxCluster, kMaxCluster);
  uint64_t ctas = uint64_t(preferred[0]) * preferred[1] * preferred[2];
  if (fields.ok() && ctas > kMaxCluster)
    fields.fail("preferred_cluster", "have at most 16 blocks, got " + std::to_string(ctas));
  for (int i = 0; i < 3 && fields.ok(); ++i) {
    std::string key = "preferred_cluster[" + std::to_string(i) + "]";
    if (preferred[i] % kernel.cluster[i] != 0)
      fields.fail(key, "be a multiple of the cluster's " + std::to_string(kernel.cluster[i]) +
                           ", got " + std::to_string(preferred[i]));
    else if (!kernel.gridExprs[i] && kernel.grid[i] % preferred[i] != 0)
      fields.fail(key, "divide the grid's " + std::to_string(kernel.grid[i]) + ", got " +
                           std::to_string(preferred[i]));
  }
  kernel.preferredCluster = preferred;
}

ManifestKernel parseKernel(const Value &value, const std::string &path, const Manifest &manifest,
                           std::string &error) {
  Fields fields(value, path, error);
  ManifestKernel kernel;
  kernel.name = fields.string("name");
  if (const llvm::json::Array *grid = fields.array("grid", 3, 3))
    for (size_t i = 0; i < 3 && fields.ok(); ++i)
      kernel.grid[i] =
          uint32_t(fields.extent((*grid)[i], "grid[" + std::to_string(i) + "]", 1,
                                 i == 0 ? kMaxGridX : kMaxGridYZ, manifest, kernel.gridExprs[i]));
  kernel.block = fields.dim3("block", kMaxBlock, kMaxBlock);
  kernel.cluster = fields.dim3("cluster", kMaxCluster, kMaxCluster);
  kernel.sharedBytes = fields.integer("shared_bytes", 0, kMaxBytes);
  kernel.sharedMode = fields.choice<SharedMode>("shared_mode", kSharedModeNames);
  uint64_t threads = uint64_t(kernel.block[0]) * kernel.block[1] * kernel.block[2];
  if (fields.ok() && threads > kMaxBlock)
    fields.fail("block", "have at most 1024 threads, got " + std::to_string(threads));
  uint64_t ctas = uint64_t(kernel.cluster[0]) * kernel.cluster[1] * kernel.cluster[2];
  if (fields.ok() && ctas > kMaxCluster)
    fields.fail("cluster", "have at most 16 blocks, got " + std::to_string(ctas));
  for (int i = 0; i < 3 && fields.ok(); ++i)
    if (!kernel.gridExprs[i] && kernel.grid[i] % kernel.cluster[i] != 0)
      fields.fail("grid[" + std::to_string(i) + "]", "be a multiple of the cluster's " +
                                                         std::to_string(kernel.cluster[i]) +
                                                         ", got " + std::to_string(kernel.grid[i]));
  if (fields.has("preferred_cluster"))
    parsePreferredCluster(fields, kernel);
  if (fields.has("programmatic_stream_serialization"))
    kernel.programmaticStreamSerialization = fields.boolean("programmatic_stream_serialization");
  if (fields.has("registers"))
    kernel.registers = uint32_t(fields.integer("registers", 1, facts::kMaxRegistersPerThread));
  if (const llvm::json::Array *params = fields.array("params", 0, 256))
    for (size_t i = 0; i < params->size() && fields.ok(); ++i)
      kernel.params.push_back(
          parseParam((*params)[i], path + ".params[" + std::to_string(i) + "]", manifest, error));
  fields.finish();
  return kernel;
}

/// Names the first that occurs twice.
template <typename T> const std::string *findDuplicate(const std::vector<T> &items) {
  for (size_t i = 0; i < items.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (items[i].name == items[j].name)
        return &items[i].name;
  return nullptr;
}

} // namespace

const ManifestBuffer *Manifest::findBuffer(std::string_view name) const {
  for (const ManifestBuffer &buffer : buffers)
    if (buffer.name == name)
      return &buffer;
  return nullptr;
}

const ManifestSize *Manifest::findSize(std::string_view name) const {
  for (const ManifestSize &size : sizes)
    if (size.name == name)
      return &size;
  return nullptr;
}

std::vector<ManifestArgument> Manifest::arguments() const {
  std::vector<ManifestArgument> all;
  for (const ManifestKernel &kernel : kernels)
    for (const ManifestParam &param : kernel.params)
      if (!param.argument.empty() &&
          llvm::none_of(all, [&](const auto &have) { return have.name == param.argument; }))
        all.push_back({param.argument, param.type});
  return all;
}

/// A name means one thing, and one type, in a whole manifest.
static void checkArguments(const Manifest &manifest, Fields &fields) {
  std::map<std::string, ScalarType> types;
  for (size_t k = 0; k < manifest.kernels.size(); ++k)
    for (size_t i = 0; i < manifest.kernels[k].params.size(); ++i) {
      const ManifestParam &param = manifest.kernels[k].params[i];
      if (param.argument.empty())
        continue;
      std::string at = "kernels[" + std::to_string(k) + "].params[" + std::to_string(i) + "]";
      if (manifest.findBuffer(param.argument))
        fields.fail(at + ".argument",
                    "have a name of its own, got a buffer's, " + quoted(param.argument));
      ScalarType first = types.insert({param.argument, param.type}).first->second;
      if (first != param.type)
        fields.fail(at + ".type", "be " + std::string(name(first)) + " as above for argument " +
                                      quoted(param.argument) + ", got " +
                                      std::string(name(param.type)));
    }
}

Result<Manifest> parseManifest(std::string_view text, std::string_view subject) {
  Result<Value> root = parseJson(text, "manifest", subject);
  if (!root)
    return root.takeRefusal();
  std::string error;
  Manifest manifest;
  Fields fields(*root, "", error);
  fields.integer("version", kManifestVersion, kManifestVersion);
  manifest.arch = fields.choice<facts::Arch>("arch", facts::kArchNames);
  if (const llvm::json::Array *sizes =
          fields.has("sizes") ? fields.array("sizes", 0, 4096) : nullptr)
    for (size_t i = 0; i < sizes->size() && fields.ok(); ++i) {
      Fields size((*sizes)[i], "sizes[" + std::to_string(i) + "]", error);
      std::string name = size.string("name");
      uint64_t least = size.integer("least", 0, kMaxCount);
      manifest.sizes.push_back({name, least, size.integer("most", least, kMaxCount)});
      size.finish();
    }
  if (const std::string *twice = findDuplicate(manifest.sizes))
    fields.fail("sizes", "have names that differ, got " + quoted(*twice) + " twice");
  if (const llvm::json::Array *buffers = fields.array("buffers", 0, 4096))
    for (size_t i = 0; i < buffers->size() && fields.ok(); ++i)
      manifest.buffers.push_back(
          parseBuffer((*buffers)[i], "buffers[" + std::to_string(i) + "]", manifest, error));
  if (const std::string *twice = findDuplicate(manifest.buffers))
    fields.fail("buffers", "have names that differ, got " + quoted(*twice) + " twice");
  if (const llvm::json::Array *kernels = fields.array("kernels", 1, 4096))
    for (size_t i = 0; i < kernels->size() && fields.ok(); ++i)
      manifest.kernels.push_back(
          parseKernel((*kernels)[i], "kernels[" + std::to_string(i) + "]", manifest, error));
  checkArguments(manifest, fields);
  fields.finish();
  if (!error.empty())
    return Refusal{"manifest: '" + std::string(subject) + "' " + echo(error)};
  return manifest;
}

Result<Manifest> readManifest(const std::string &path) {
  Result<std::string> text = readFile(path, "manifest");
  if (!text)
    return text.takeRefusal();
  return parseManifest(*text, path);
}

} // namespace blockscale::rt
