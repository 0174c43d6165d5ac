// D01: bytes of scale tiles that belong to no real row or block never change a bit of D.
// Rows: NVFP4 M = 5, N = 64, K = 64, all ones, padding of 0x7F (NaN), 0x7E and 0x00.
// RUN: %python %S/Inputs/make.py %t.a.npy='np.full((5, 32), 0x22, np.uint8)' %t.b.npy='np.full((64, 32), 0x22, np.uint8)'
// RUN: %python %S/Inputs/make.py %t.sa0.npy='np.uint8([0x38 if i // 16 < 5 and i % 16 < 4 else 0x7F for i in range(512)])' %t.sb0.npy='np.uint8([0x38 if i % 16 < 8 else 0x7F for i in range(512)])'
// RUN: %python %S/Inputs/make.py %t.sa1.npy='np.where(np.load("%t.sa0.npy") == 0x7F, np.uint8(0x7E), np.load("%t.sa0.npy"))' %t.sb1.npy='np.where(np.load("%t.sb0.npy") == 0x7F, np.uint8(0x7E), np.load("%t.sb0.npy"))'
// RUN: %python %S/Inputs/make.py %t.sa2.npy='np.where(np.load("%t.sa0.npy") == 0x7F, np.uint8(0), np.load("%t.sa0.npy"))' %t.sb2.npy='np.where(np.load("%t.sb0.npy") == 0x7F, np.uint8(0), np.load("%t.sb0.npy"))'
// RUN: blockscale-run %s --entry=rows --arch=sm_107a --arg=%t.a.npy --arg=%t.sa0.npy --arg=%t.b.npy --arg=%t.sb0.npy --out=%t.d0.npy --check
// RUN: blockscale-run %s --entry=rows --arch=sm_107a --arg=%t.a.npy --arg=%t.sa1.npy --arg=%t.b.npy --arg=%t.sb1.npy --out=%t.d1.npy --check
// RUN: blockscale-run %s --entry=rows --arch=sm_107a --arg=%t.a.npy --arg=%t.sa2.npy --arg=%t.b.npy --arg=%t.sb2.npy --out=%t.d2.npy --check
// RUN: %python %S/Inputs/expect.py %t.d0.npy 'np.full((5, 64), 64, np.float32)'
// RUN: cmp %t.d0.npy %t.d1.npy
// RUN: cmp %t.d0.npy %t.d2.npy

// Columns: K = 96 has 6 scales a row; the other 2 of the second tile are NaN bytes.
// RUN: %python %S/Inputs/make.py %t.ka.npy='np.full((5, 48), 0x22, np.uint8)' %t.kb.npy='np.full((64, 48), 0x22, np.uint8)'
// RUN: %python %S/Inputs/make.py %t.ks.npy='np.uint8([0x7F if i >= 512 and i % 4 >= 2 else 0x38 for i in range(1024)])'
// RUN: blockscale-run %s --entry=columns --arch=sm_100a --arg=%t.ka.npy --arg=%t.ks.npy --arg=%t.kb.npy --arg=%t.ks.npy --out=%t.k.npy --check
// RUN: %python %S/Inputs/expect.py %t.k.npy 'np.full((5, 64), 96, np.float32)'

!a = tensor<5x64xf4E2M1FN>
!sa = tensor<5x4xi8, #blockscale.scales<ue4m3, tiled>>
!b = tensor<64x64xf4E2M1FN>
!sb = tensor<64x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @rows(%a: !a, %sa: !sa, %b: !b, %sb: !sb) -> tensor<5x64xf32> {
  %c = tensor.empty() : tensor<5x64xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb)
    outs(%c : tensor<5x64xf32>) -> tensor<5x64xf32>
  return %d : tensor<5x64xf32>
}

!ka = tensor<5x96xf4E2M1FN>
!ksa = tensor<5x6xi8, #blockscale.scales<ue4m3, tiled>>
!kb = tensor<64x96xf4E2M1FN>
!ksb = tensor<64x6xi8, #blockscale.scales<ue4m3, tiled>>
func.func @columns(%a: !ka, %sa: !ksa, %b: !kb, %sb: !ksb) -> tensor<5x64xf32> {
  %c = tensor.empty() : tensor<5x64xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !ka, !ksa, !kb, !ksb)
    outs(%c : tensor<5x64xf32>) -> tensor<5x64xf32>
  return %d : tensor<5x64xf32>
}
