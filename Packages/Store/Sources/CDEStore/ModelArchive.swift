/// The copy of its model that a store keeps.
@_spi(CDE) public enum ModelArchive {
  /// More than any model has. Stores may contain anything.
  private static let limit = 64 << 20

  /// The copy that a store keeps of an archive.
  public static func content(of archive: [UInt8]) -> [UInt8] { Deflate.compress(archive) }

  /// The archive in a store's copy. All stores seen so far have raw DEFLATE. An archive that is not compressed, or that has the
  /// header of zlib, is as plain.
  ///
  /// - Returns: nil if it is none of these.
  public static func archive(_ content: [UInt8]) -> [UInt8]? {
    let start = Array("bplist".utf8)
    if content.starts(with: start) { return content }
    if let raw = try? Deflate.decompress(content, limit: limit), raw.starts(with: start) { return raw }
    guard content.count > 2, content[0] & 0x0F == 8, (Int(content[0]) << 8 + Int(content[1])) % 31 == 0 else {
      return nil
    }
    return try? Deflate.decompress(Array(content.dropFirst(2)), limit: limit)
  }
}
