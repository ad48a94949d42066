// Models are hashed whenever a container is made, in debug builds as well. There generic code and the subscripts of arrays
// call functions of the standard library for each word, which made a hash thirty times as slow. So both functions are written
// out for their words, on memory of the block.

/// SHA-256 of bytes, by FIPS 180-4.
///
/// Swift's Foundation on Linux has no hash functions, and this layer depends on no package. For schema
/// fingerprints and not for secrets, because it is not protected against timing attacks.
@_spi(CDE) public enum SHA256 {
  /// Bytes of a digest.
  public static let byteCount = 32

  /// The digest of `bytes`.
  ///
  /// - Parameter bytes: the message, any length.
  /// - Returns: 32 bytes.
  public static func hash(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    let message = SHA2.padded(Array(bytes), block: 64)
    var state = initial
    state.withUnsafeMutableBufferPointer { state in
      message.withUnsafeBytes { message in
        constants.withUnsafeBufferPointer { constants in
          withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
            var start = 0
            while start < message.count {
              compress(
                message.baseAddress! + start, constants.baseAddress!, schedule.baseAddress!,
                state.baseAddress!)
              start += 64
            }
          }
        }
      }
      for index in state.indices { state[index] = state[index].bigEndian }
    }
    return state.withUnsafeBytes { Array($0) }
  }

  private static func compress(
    _ block: UnsafeRawPointer, _ constants: UnsafePointer<UInt32>, _ schedule: UnsafeMutablePointer<UInt32>,
    _ state: UnsafeMutablePointer<UInt32>
  ) {
    var index = 0
    while index < 16 {
      schedule[index] = block.loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self).bigEndian
      index &+= 1
    }
    while index < 64 {
      let early = schedule[index &- 15]
      let late = schedule[index &- 2]
      schedule[index] =
        schedule[index &- 16] &+ (rotate(early, 7) ^ rotate(early, 18) ^ early &>> 3)
        &+ schedule[index &- 7] &+ (rotate(late, 17) ^ rotate(late, 19) ^ late &>> 10)
      index &+= 1
    }
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    index = 0
    while index < 64 {
      let first =
        h &+ (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) &+ ((e & f) ^ (~e & g)) &+ constants[index]
        &+ schedule[index]
      let majority = (a & b) ^ (a & c) ^ (b & c)
      let second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) &+ majority
      (h, g, f, e) = (g, f, e, d &+ first)
      (d, c, b, a) = (c, b, a, first &+ second)
      index &+= 1
    }
    state[0] &+= a
    state[1] &+= b
    state[2] &+= c
    state[3] &+= d
    state[4] &+= e
    state[5] &+= f
    state[6] &+= g
    state[7] &+= h
  }

  private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 {
    word &>> count | word &<< (32 &- count)
  }

  // The fractions of the square roots of the first eight primes.
  private static let initial: [UInt32] = [
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
  ]

  // The fractions of the cube roots of the first 64 primes.
  private static let constants: [UInt32] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
  ]
}

/// SHA-512 of bytes, by FIPS 180-4.
///
/// Swift's Foundation on Linux has no hash functions, and this layer depends on no package. For schema
/// fingerprints and not for secrets, because it is not protected against timing attacks.
@_spi(CDE) public enum SHA512 {
  /// Bytes of a digest.
  public static let byteCount = 64

  /// The digest of `bytes`.
  ///
  /// - Parameter bytes: the message, any length.
  /// - Returns: 64 bytes.
  public static func hash(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    let message = SHA2.padded(Array(bytes), block: 128)
    var state = initial
    state.withUnsafeMutableBufferPointer { state in
      message.withUnsafeBytes { message in
        constants.withUnsafeBufferPointer { constants in
          withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 80) { schedule in
            var start = 0
            while start < message.count {
              compress(
                message.baseAddress! + start, constants.baseAddress!, schedule.baseAddress!,
                state.baseAddress!)
              start += 128
            }
          }
        }
      }
      for index in state.indices { state[index] = state[index].bigEndian }
    }
    return state.withUnsafeBytes { Array($0) }
  }

  private static func compress(
    _ block: UnsafeRawPointer, _ constants: UnsafePointer<UInt64>, _ schedule: UnsafeMutablePointer<UInt64>,
    _ state: UnsafeMutablePointer<UInt64>
  ) {
    var index = 0
    while index < 16 {
      schedule[index] = block.loadUnaligned(fromByteOffset: index &* 8, as: UInt64.self).bigEndian
      index &+= 1
    }
    while index < 80 {
      let early = schedule[index &- 15]
      let late = schedule[index &- 2]
      schedule[index] =
        schedule[index &- 16] &+ (rotate(early, 1) ^ rotate(early, 8) ^ early &>> 7)
        &+ schedule[index &- 7] &+ (rotate(late, 19) ^ rotate(late, 61) ^ late &>> 6)
      index &+= 1
    }
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    index = 0
    while index < 80 {
      let first =
        h &+ (rotate(e, 14) ^ rotate(e, 18) ^ rotate(e, 41)) &+ ((e & f) ^ (~e & g)) &+ constants[index]
        &+ schedule[index]
      let majority = (a & b) ^ (a & c) ^ (b & c)
      let second = (rotate(a, 28) ^ rotate(a, 34) ^ rotate(a, 39)) &+ majority
      (h, g, f, e) = (g, f, e, d &+ first)
      (d, c, b, a) = (c, b, a, first &+ second)
      index &+= 1
    }
    state[0] &+= a
    state[1] &+= b
    state[2] &+= c
    state[3] &+= d
    state[4] &+= e
    state[5] &+= f
    state[6] &+= g
    state[7] &+= h
  }

  private static func rotate(_ word: UInt64, _ count: UInt64) -> UInt64 {
    word &>> count | word &<< (64 &- count)
  }

  // The fractions of the square roots of the first eight primes.
  private static let initial: [UInt64] = [
    0x6a09e667_f3bcc908, 0xbb67ae85_84caa73b, 0x3c6ef372_fe94f82b, 0xa54ff53a_5f1d36f1,
    0x510e527f_ade682d1, 0x9b05688c_2b3e6c1f, 0x1f83d9ab_fb41bd6b, 0x5be0cd19_137e2179,
  ]

  // The fractions of the cube roots of the first 80 primes.
  private static let constants: [UInt64] = [
    0x428a2f98_d728ae22, 0x71374491_23ef65cd, 0xb5c0fbcf_ec4d3b2f, 0xe9b5dba5_8189dbbc,
    0x3956c25b_f348b538, 0x59f111f1_b605d019, 0x923f82a4_af194f9b, 0xab1c5ed5_da6d8118,
    0xd807aa98_a3030242, 0x12835b01_45706fbe, 0x243185be_4ee4b28c, 0x550c7dc3_d5ffb4e2,
    0x72be5d74_f27b896f, 0x80deb1fe_3b1696b1, 0x9bdc06a7_25c71235, 0xc19bf174_cf692694,
    0xe49b69c1_9ef14ad2, 0xefbe4786_384f25e3, 0x0fc19dc6_8b8cd5b5, 0x240ca1cc_77ac9c65,
    0x2de92c6f_592b0275, 0x4a7484aa_6ea6e483, 0x5cb0a9dc_bd41fbd4, 0x76f988da_831153b5,
    0x983e5152_ee66dfab, 0xa831c66d_2db43210, 0xb00327c8_98fb213f, 0xbf597fc7_beef0ee4,
    0xc6e00bf3_3da88fc2, 0xd5a79147_930aa725, 0x06ca6351_e003826f, 0x14292967_0a0e6e70,
    0x27b70a85_46d22ffc, 0x2e1b2138_5c26c926, 0x4d2c6dfc_5ac42aed, 0x53380d13_9d95b3df,
    0x650a7354_8baf63de, 0x766a0abb_3c77b2a8, 0x81c2c92e_47edaee6, 0x92722c85_1482353b,
    0xa2bfe8a1_4cf10364, 0xa81a664b_bc423001, 0xc24b8b70_d0f89791, 0xc76c51a3_0654be30,
    0xd192e819_d6ef5218, 0xd6990624_5565a910, 0xf40e3585_5771202a, 0x106aa070_32bbd1b8,
    0x19a4c116_b8d2d0c8, 0x1e376c08_5141ab53, 0x2748774c_df8eeb99, 0x34b0bcb5_e19b48a8,
    0x391c0cb3_c5c95a63, 0x4ed8aa4a_e3418acb, 0x5b9cca4f_7763e373, 0x682e6ff3_d6b2b8a3,
    0x748f82ee_5defb2fc, 0x78a5636f_43172f60, 0x84c87814_a1f0ab72, 0x8cc70208_1a6439ec,
    0x90befffa_23631e28, 0xa4506ceb_de82bde9, 0xbef9a3f7_b2c67915, 0xc67178f2_e372532b,
    0xca273ece_ea26619c, 0xd186b8c7_21c0c207, 0xeada7dd6_cde0eb1e, 0xf57d4f7f_ee6ed178,
    0x06f067aa_72176fba, 0x0a637dc5_a2c898a6, 0x113f9804_bef90dae, 0x1b710b35_131c471b,
    0x28db77f5_23047d84, 0x32caab7b_40c72493, 0x3c9ebe0a_15c9bebc, 0x431d67c4_9c100d4c,
    0x4cc5d4be_cb3e42b6, 0x597f299c_fc657e2a, 0x5fcb6fab_3ad6faec, 0x6c44198c_4a475817,
  ]
}

/// What both functions do with a message.
private enum SHA2 {
  /// The message with the end that makes it whole blocks: a bit, zeros, and its length in bits in an eighth of a block.
  static func padded(_ bytes: [UInt8], block: Int) -> [UInt8] {
    let length = block / 8
    var message = bytes
    message.append(0x80)
    let rest = (message.count + length) % block
    message.append(contentsOf: repeatElement(0, count: (rest == 0 ? 0 : block - rest) + length - 8))
    let bitCount = UInt64(bytes.count) * 8
    for shift in stride(from: 56, through: 0, by: -8) {
      message.append(UInt8(truncatingIfNeeded: bitCount >> UInt64(shift)))
    }
    return message
  }
}
