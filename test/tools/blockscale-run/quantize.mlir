// Host references through compiled host code: values by hand.

// Quantise and back is the identity on values that the format has (D21's 3.0 among them).
// RUN: %python %S/Inputs/make.py %t.x.npy='np.tile(np.float32([3, -6, 0, 1.5]), (6, 16))'
// RUN: blockscale-run %s --entry=round_trip --arch=sm_100a --arg=%t.x.npy --out=%t.y.npy --out=%t.s.npy
// RUN: %python %S/Inputs/expect.py %t.y.npy "load('%t.x.npy')"
// Tiled scales come as the flat bytes of their tiles: 6 rows of 2 scales of 1.0, zeros elsewhere.
// RUN: %python %S/Inputs/expect.py %t.s.npy 'np.uint8([0x7F if i // 16 < 6 and i % 16 < 2 else 0 for i in range(512)])'

// D13: all 256 codes of UE8M0 as f32 bits.
// RUN: %python %S/Inputs/make.py %t.one.npy='np.full((256, 32), 0x38, np.uint8)' %t.codes.npy='np.arange(256, dtype=np.uint8).reshape(256, 1)'
// RUN: blockscale-run %s --entry=decode --arch=sm_100a --arg=%t.one.npy --arg=%t.codes.npy --out=%t.f.npy
// RUN: %python %S/Inputs/expect.py %t.f.npy '(d.view(np.uint32)[:255, 0] == np.append([0x00400000], np.arange(1, 255) << 23)).all() and np.isnan(d[255]).all()'

func.func @round_trip(%x: tensor<6x64xf32>) -> (tensor<6x64xf32>, tensor<6x2xi8, #blockscale.scales<ue8m0, tiled>>) {
  %q, %s = blockscale.quantize %x : tensor<6x64xf32> -> tensor<6x64xf4E2M1FN>, tensor<6x2xi8, #blockscale.scales<ue8m0, tiled>>
  %y = blockscale.dequantize %q scaled %s : tensor<6x64xf4E2M1FN>, tensor<6x2xi8, #blockscale.scales<ue8m0, tiled>> -> tensor<6x64xf32>
  return %y, %s : tensor<6x64xf32>, tensor<6x2xi8, #blockscale.scales<ue8m0, tiled>>
}

func.func @decode(%q: tensor<256x32xf8E4M3FN>, %s: tensor<256x1xi8, #blockscale.scales<ue8m0, linear>>) -> tensor<256x32xf32> {
  %y = blockscale.dequantize %q scaled %s : tensor<256x32xf8E4M3FN>, tensor<256x1xi8, #blockscale.scales<ue8m0, linear>> -> tensor<256x32xf32>
  return %y : tensor<256x32xf32>
}
