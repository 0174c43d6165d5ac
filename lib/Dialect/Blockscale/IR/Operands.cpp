//===- Operands.cpp - what the types of block-scaled operands say ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Operands.h"

#include "blockscale/Dialect/Blockscale/IR/Batches.h"
#include "blockscale/Facts/IDescFields.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace blockscale;
using facts::Format;
using facts::ScaleFormat;
using facts::ScaleLayout;

std::string blockscale::listProducts() {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(facts::kScaledKinds, os, [&](facts::MmaKind kind) {
    SmallVector<StringRef> formats;
    for (const facts::FormatInfo &row : facts::kFormats)
      if (facts::mmaTypeCode(kind, row.format))
        formats.push_back(row.name);
    os << name(kind) << " (" << (formats.size() > 1 ? "any two of " : "")
       << llvm::join(formats, ", ") << " scaled ";
    auto isOfKind = [&](const facts::MmaScaleMode &row) { return row.kind == kind; };
    llvm::interleaveComma(
        llvm::make_filter_range(facts::kMmaScaleModes, isOfKind), os,
        [&](const facts::MmaScaleMode &row) { os << name(row.scale) << " by " << row.block; });
    os << ")";
  });
  return text;
}

std::string blockscale::describe(const facts::ProductFormat &format) {
  for (const facts::NamedProduct &row : facts::kNamedProducts)
    if (row.format == format)
      return std::string(row.name);
  std::string text;
  llvm::raw_string_ostream(text) << name(format.a) << " x " << name(format.b) << " scaled "
                                 << name(format.scale) << " by " << format.block;
  return text;
}

const facts::QuantizedFormat *blockscale::findQuantized(Format element, ScaleFormat scale,
                                                        int64_t block) {
  for (const facts::QuantizedFormat &row : facts::kQuantizedFormats)
    if (row.element == element && row.scale == scale && (!block || row.block == block))
      return &row;
  return nullptr;
}

std::string blockscale::listQuantized() {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(facts::kQuantizedFormats, os, [&](const facts::QuantizedFormat &row) {
    os << row.name << " (" << name(row.element) << ", " << name(row.scale) << ", block "
       << row.block << ")";
  });
  return text;
}

std::optional<Format> blockscale::getFormat(Type elementType) {
  return llvm::TypeSwitch<Type, std::optional<Format>>(elementType)
      .Case([](Float4E2M1FNType) { return Format::e2m1; })
      .Case([](Float6E2M3FNType) { return Format::e2m3; })
      .Case([](Float6E3M2FNType) { return Format::e3m2; })
      .Case([](Float8E4M3FNType) { return Format::e4m3; })
      .Case([](Float8E5M2Type) { return Format::e5m2; })
      .Case([](Float16Type) { return Format::f16; })
      .Case([](BFloat16Type) { return Format::bf16; })
      .Case([](Float32Type) { return Format::f32; })
      .Default([](Type) { return std::nullopt; });
}

Type blockscale::getElementType(MLIRContext *context, Format format) {
  switch (format) {
  case Format::e2m1:
    return Float4E2M1FNType::get(context);
  case Format::e2m3:
    return Float6E2M3FNType::get(context);
  case Format::e3m2:
    return Float6E3M2FNType::get(context);
  case Format::e4m3:
    return Float8E4M3FNType::get(context);
  case Format::e5m2:
    return Float8E5M2Type::get(context);
  case Format::f16:
    return Float16Type::get(context);
  case Format::bf16:
    return BFloat16Type::get(context);
  case Format::f32:
    return Float32Type::get(context);
  }
  llvm_unreachable("unknown format");
}

ScalesAttr blockscale::getScalesEncoding(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return nullptr;
  if (auto encoding = dyn_cast_or_null<ScalesAttr>(tensor.getEncoding()))
    return encoding;
  if (tensor.getEncoding())
    return nullptr;
  MLIRContext *context = type.getContext();
  if (isa<Float8E8M0FNUType>(tensor.getElementType()))
    return ScalesAttr::get(context, ScaleFormat::ue8m0, ScaleLayout::linear);
  if (isa<Float8E4M3FNType>(tensor.getElementType()))
    return ScalesAttr::get(context, ScaleFormat::ue4m3, ScaleLayout::linear);
  return nullptr;
}

ScaleMatrixAttr blockscale::getScaleMatrices(Type type) {
  ScalesAttr encoding = getScalesEncoding(type);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!encoding || (tensor.getRank() != 2 && tensor.getRank() != 3))
    return nullptr;
  int64_t rows = tensor.getRank() - 2, batches = rows ? tensor.getDimSize(0) : 1;
  if (tensor.isDynamicDim(rows + 1) || isDynamic(batches))
    return nullptr;
  return ScaleMatrixAttr::get(type.getContext(), tensor.getDimSize(rows),
                              tensor.getDimSize(rows + 1), encoding.getFormat(),
                              encoding.getLayout(), batches);
}

ScaleMatrixAttr blockscale::getScaleMatrix(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 2 ? getScaleMatrices(type) : nullptr;
}

PitchedAttr blockscale::getPitched(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<PitchedAttr>(tensor.getEncoding()) : nullptr;
}

bool blockscale::isContiguous(MemRefType type) {
  if (type.getLayout().isIdentity())
    return true;
  SmallVector<int64_t> strides;
  int64_t offset, next = 1;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return false;
  for (int64_t i = type.getRank() - 1; i >= 0; --i) {
    if (strides[i] != next)
      return false;
    // A dynamic extent is one behind the outermost stride, or the next is not known.
    next = type.isDynamicDim(i) ? ShapedType::kDynamic : next * type.getDimSize(i);
    if (next == ShapedType::kDynamic && i > 0)
      return false;
  }
  return true;
}

int64_t blockscale::getScaleBytes(RankedTensorType type) {
  return getScaleMatrices(type).getBytes();
}

bool blockscale::isPackedBytes(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank() || shaped.getRank() != 1 ||
      !shaped.getElementType().isInteger(8))
    return false;
  auto tensor = dyn_cast<RankedTensorType>(type);
  return !tensor || !tensor.getEncoding();
}

std::optional<int64_t> blockscale::getNarrowBits(Type elementType) {
  if (elementType.isInteger(8) || isa<Float8E8M0FNUType>(elementType))
    return 8;
  std::optional<Format> format = getFormat(elementType);
  if (!format || info(*format).bits > 8)
    return std::nullopt;
  return info(*format).bits;
}

bool blockscale::isNarrow(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return false;
  if (isa_and_nonnull<ScalesAttr, BlocksAttr>(tensor.getEncoding()))
    return true;
  return !tensor.getElementType().isInteger(8) && getNarrowBits(tensor.getElementType());
}
