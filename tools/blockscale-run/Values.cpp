//===- Values.cpp - arrays as arguments and results of compiled functions -===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Values.h"

#include "blockscale/Dialect/Blockscale/IR/Batches.h"
#include "blockscale/Dialect/Blockscale/IR/Operands.h"
#include "blockscale/Facts/ScaleTile.h"

#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <cstring>

using namespace mlir;

namespace blockscale::run {

using facts::Refusal;
using rt::Array;
using rt::DType;

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static std::optional<DType> plainType(Type type) {
  if (type.isF16())
    return DType::f16;
  if (type.isBF16())
    return DType::bf16;
  if (type.isF32())
    return DType::f32;
  if (type.isF64())
    return DType::f64;
  if (type.isInteger(8))
    return DType::u8;
  if (type.isInteger(32))
    return DType::i32;
  if (type.isInteger(64))
    return DType::i64;
  return std::nullopt;
}

facts::Result<FileForm> getFileForm(Type type, const std::string &subject) {
  Refusal refusal{subject +
                  " must be a tensor, memref or scalar of f16, bf16, f32, f64, i8, i32, "
                  "i64, FP4, FP6, FP8 or scales, got " +
                  print(type)};
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped) {
    std::optional<DType> plain = plainType(type);
    return plain ? facts::Result<FileForm>(FileForm{*plain, {}}) : refusal;
  }
  if (!shaped.hasRank())
    return refusal;
  std::vector<int64_t> shape;
  for (int64_t dim : shaped.getShape())
    shape.push_back(ShapedType::isDynamic(dim) ? -1 : dim);
  Type element = shaped.getElementType();
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    if (auto scales = dyn_cast_or_null<ScalesAttr>(tensor.getEncoding());
        scales && scales.getLayout() == facts::ScaleLayout::tiled) {
      int64_t bytes = getScaleBytes(tensor);
      if (!isDynamic(bytes))
        return FileForm{DType::u8, {bytes}};
      SmallVector<int64_t> one(tensor.getShape());
      one[one.size() - 2] = 1;
      return FileForm{DType::u8, {-1}, getScaleBytes(tensor.clone(one))};
    }
  if (PitchedAttr pitched = getPitched(type))
    return FileForm{DType::u8, {shape[0], pitched.getBytes()}};
  if (std::optional<DType> plain = plainType(element))
    return FileForm{*plain, shape};
  if (isa<Float8E8M0FNUType, Float8E4M3FNType, Float8E5M2Type>(element))
    return FileForm{DType::u8, shape};
  std::optional<facts::Format> format = getFormat(element);
  if (format && facts::info(*format).bits < 8 && !shape.empty() && shape.back() > 0 &&
      shape.back() * facts::info(*format).bits % 8 == 0) {
    shape.back() = facts::packedBytes(*format, shape.back());
    return FileForm{DType::u8, shape};
  }
  return refusal;
}

facts::Result<bool> checkForm(const FileForm &form, const Array &array,
                              const std::string &subject) {
  bool isSameType = form.type == array.type ||
                    (form.type == DType::bf16 && array.type == DType::u16) ||
                    form.type == rt::otherSign(array.type); // i32 of MLIR has no sign
  bool isSameShape = form.shape.size() == array.shape.size();
  for (size_t i = 0; isSameShape && i < form.shape.size(); ++i)
    isSameShape = form.shape[i] == -1 || form.shape[i] == array.shape[i];
  // A scalar may also be a list of one.
  if (form.shape.empty() && array.shape == std::vector<int64_t>{1})
    isSameShape = true;
  bool isMultiple = array.bytes.size() % size_t(form.multiple) == 0;
  if (isSameType && isSameShape && isMultiple)
    return true;
  return Refusal{
      subject + " must be " + std::string(name(form.type)) + " " + rt::formatShape(form.shape) +
      (isMultiple ? "" : ", whole tiles of " + std::to_string(form.multiple) + " bytes") +
      ", got " + std::string(name(array.type)) + " " + rt::formatShape(array.shape)};
}

facts::Result<bool> checkMemory(const FileForm &form, MemRefType memref,
                                const std::string &subject) {
  // A size is known where the form knows it; else the call gives it, by dimension.
  ArrayRef<int64_t> dims = memref.getShape();
  Type element = memref.getElementType();
  unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  bool isSame;
  if (memref.hasStaticShape()) {
    std::optional<uint64_t> bytes = rt::byteSize(form.type, form.shape);
    isSame = bytes && uint64_t(memref.getNumElements()) * bits == 8 * *bytes;
  } else {
    auto isSameDim = [](int64_t dim, int64_t known) {
      return dim == (known == -1 ? ShapedType::kDynamic : known);
    };
    isSame = llvm::equal(dims, form.shape, isSameDim) && plainType(element) == form.type;
  }
  if (memref.getLayout().isIdentity() && isSame)
    return true;
  return Refusal{subject + " must be compiled to a contiguous memref that holds " +
                 std::string(name(form.type)) + " " + rt::formatShape(form.shape) + ", got " +
                 print(memref)};
}

void Value::Free::operator()(uint8_t *bytes) const { std::free(bytes); }

facts::Result<Value> Value::argument(Type type, const Array &array, const std::string &subject) {
  Value value;
  size_t size = (array.bytes.size() + 63) / 64 * 64;
  value.bytes.reset(static_cast<uint8_t *>(std::aligned_alloc(64, std::max<size_t>(size, 64))));
  std::memcpy(value.bytes.get(), array.bytes.data(), array.bytes.size());
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref) {
    value.isScalar = true;
    if (type.isIntOrFloat() && type.getIntOrFloatBitWidth() == 8 * array.bytes.size())
      return value;
    return Refusal{subject + " must be compiled to a memref or a scalar, got " + print(type)};
  }
  std::vector<int64_t> shape(memref.getShape());
  if (shape.size() == array.shape.size())
    for (size_t i = 0; i < shape.size(); ++i)
      if (ShapedType::isDynamic(shape[i]))
        shape[i] = array.shape[i];
  // Rows of narrow elements are bytes by now, as many as the file has.
  if (shape.size() == 1 && ShapedType::isDynamic(shape[0]) && memref.getElementType().isInteger(8))
    shape[0] = int64_t(array.bytes.size());
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  Type element = memref.getElementType();
  if (!memref.getLayout().isIdentity() || !element.isIntOrFloat() ||
      uint64_t(count) * element.getIntOrFloatBitWidth() != 8 * array.bytes.size())
    return Refusal{subject + " must be compiled to " + std::to_string(array.bytes.size()) +
                   " contiguous bytes, got " + print(type)};
  value.descriptor.resize(descriptorWords(memref.getRank()));
  value.descriptor[0] = value.descriptor[1] =
      int64_t(reinterpret_cast<intptr_t>(value.bytes.get()));
  int64_t stride = 1;
  for (int64_t i = memref.getRank() - 1; i >= 0; --i) {
    value.descriptor[3 + i] = shape[i];
    value.descriptor[3 + memref.getRank() + i] = stride;
    stride *= shape[i];
  }
  return value;
}

void *Value::address() {
  if (isScalar)
    return bytes.get();
  descriptorAddress = descriptor.data();
  return &descriptorAddress;
}

} // namespace blockscale::run
