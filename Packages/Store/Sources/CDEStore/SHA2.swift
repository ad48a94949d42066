/// SHA-256 of bytes, by FIPS 180-4.
///
/// Swift's Foundation on Linux has no hash functions, and this layer depends on no package. For schema
/// fingerprints and not for secrets, because it is not protected against timing attacks.
@_spi(CDE) public enum SHA256: SHA2 {
  /// Bytes of a digest.
  public static let byteCount = 32

  /// The digest of `bytes`.
  ///
  /// - Parameter bytes: the message, any length.
  /// - Returns: 32 bytes.
  public static func hash(_ bytes: some Sequence<UInt8>) -> [UInt8] { digest(Array(bytes)) }

  @inline(__always)
  fileprivate static func scheduled(_ word: UInt32) -> UInt32 {
    rotate(word, 7) ^ rotate(word, 18) ^ word &>> 3
  }

  @inline(__always)
  fileprivate static func scheduledRecent(_ word: UInt32) -> UInt32 {
    rotate(word, 17) ^ rotate(word, 19) ^ word &>> 10
  }

  @inline(__always)
  fileprivate static func sum0(_ word: UInt32) -> UInt32 {
    rotate(word, 2) ^ rotate(word, 13) ^ rotate(word, 22)
  }

  @inline(__always)
  fileprivate static func sum1(_ word: UInt32) -> UInt32 {
    rotate(word, 6) ^ rotate(word, 11) ^ rotate(word, 25)
  }

  // The fractions of the square roots of the first eight primes.
  fileprivate static let initial: [UInt32] = [
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
  ]

  // The fractions of the cube roots of the first 64 primes.
  fileprivate static let constants: [UInt32] = [
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
@_spi(CDE) public enum SHA512: SHA2 {
  /// Bytes of a digest.
  public static let byteCount = 64

  /// The digest of `bytes`.
  ///
  /// - Parameter bytes: the message, any length.
  /// - Returns: 64 bytes.
  public static func hash(_ bytes: some Sequence<UInt8>) -> [UInt8] { digest(Array(bytes)) }

  @inline(__always)
  fileprivate static func scheduled(_ word: UInt64) -> UInt64 {
    rotate(word, 1) ^ rotate(word, 8) ^ word &>> 7
  }

  @inline(__always)
  fileprivate static func scheduledRecent(_ word: UInt64) -> UInt64 {
    rotate(word, 19) ^ rotate(word, 61) ^ word &>> 6
  }

  @inline(__always)
  fileprivate static func sum0(_ word: UInt64) -> UInt64 {
    rotate(word, 28) ^ rotate(word, 34) ^ rotate(word, 39)
  }

  @inline(__always)
  fileprivate static func sum1(_ word: UInt64) -> UInt64 {
    rotate(word, 14) ^ rotate(word, 18) ^ rotate(word, 41)
  }

  // The fractions of the square roots of the first eight primes.
  fileprivate static let initial: [UInt64] = [
    0x6a09e667_f3bcc908, 0xbb67ae85_84caa73b, 0x3c6ef372_fe94f82b, 0xa54ff53a_5f1d36f1,
    0x510e527f_ade682d1, 0x9b05688c_2b3e6c1f, 0x1f83d9ab_fb41bd6b, 0x5be0cd19_137e2179,
  ]

  // The fractions of the cube roots of the first 80 primes.
  fileprivate static let constants: [UInt64] = [
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

/// The common part. The two differ in the width of a word, the constants and the rotations.
private protocol SHA2 {
  associatedtype Word: FixedWidthInteger & UnsignedInteger

  static var initial: [Word] { get }
  /// One constant for each round.
  static var constants: [Word] { get }
  static func scheduled(_ word: Word) -> Word
  static func scheduledRecent(_ word: Word) -> Word
  static func sum0(_ word: Word) -> Word
  static func sum1(_ word: Word) -> Word
}

extension SHA2 {
  @inline(__always)
  fileprivate static func rotate(_ word: Word, _ count: Word) -> Word {
    word &>> count | word &<< (Word(truncatingIfNeeded: Word.bitWidth) &- count)
  }

  fileprivate static func digest(_ bytes: [UInt8]) -> [UInt8] {
    let wordBytes = Word.bitWidth / 8
    let block = 16 * wordBytes
    var message = bytes
    message.append(0x80)
    // The message ends with its length in two words.
    while message.count % block != block - 2 * wordBytes { message.append(0) }
    message.append(contentsOf: repeatElement(0, count: 2 * wordBytes - 8))
    let bitCount = UInt64(bytes.count) * 8
    for shift in stride(from: 56, through: 0, by: -8) {
      message.append(UInt8(truncatingIfNeeded: bitCount >> UInt64(shift)))
    }

    var state = initial
    let constants = constants
    var schedule = [Word](repeating: 0, count: constants.count)
    for start in stride(from: 0, to: message.count, by: block) {
      for index in 0..<16 {
        var word: Word = 0
        for byte in 0..<wordBytes {
          word = word &<< 8 | Word(truncatingIfNeeded: message[start + index * wordBytes + byte])
        }
        schedule[index] = word
      }
      for index in 16..<constants.count {
        schedule[index] =
          schedule[index - 16] &+ scheduled(schedule[index - 15]) &+ schedule[index - 7]
          &+ scheduledRecent(schedule[index - 2])
      }
      compress(schedule, constants, into: &state)
    }
    return state.flatMap { word in
      stride(from: Word.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> Word($0)) }
    }
  }

  private static func compress(_ schedule: [Word], _ constants: [Word], into state: inout [Word]) {
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    for index in constants.indices {
      let choice = (e & f) ^ (~e & g)
      let first = h &+ sum1(e) &+ choice &+ constants[index] &+ schedule[index]
      let majority = (a & b) ^ (a & c) ^ (b & c)
      (h, g, f, e) = (g, f, e, d &+ first)
      (d, c, b, a) = (c, b, a, first &+ sum0(a) &+ majority)
    }
    for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= value }
  }
}
