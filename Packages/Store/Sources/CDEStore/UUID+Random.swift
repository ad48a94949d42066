public import Foundation

extension UUID {
  /// A random UUID, of version 4.
  ///
  /// Costs one system call or less. Foundation's `UUID()` opens and closes a file on Linux, which takes some 5 µs, and each save needs
  /// one.
  @_spi(CDE) public static func makeRandom() -> UUID {
    var generator = SystemRandomNumberGenerator()
    var words = (generator.next(), generator.next())
    return withUnsafeMutableBytes(of: &words) { bytes in
      bytes[6] = bytes[6] & 0x0F | 0x40
      bytes[8] = bytes[8] & 0x3F | 0x80
      return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
  }
}
