/// SQLite's file URIs.
enum StoreURI {
  /// The URI of a file for SQLite.
  ///
  /// - Parameters:
  ///   - vfs: the name of the file system; nil for the default.
  ///   - parameters: further parameters, such as `immutable=1`.
  static func of(_ path: String, vfs: String?, _ parameters: String...) -> String {
    let parameters = parameters + [vfs.map { "vfs=\(escaped($0))" }].compactMap(\.self)
    return "file:" + escaped(path) + (parameters.isEmpty ? "" : "?") + parameters.joined(separator: "&")
  }

  /// A path in the form for SQLite's file URI.
  static func escaped(_ path: String) -> String {
    var result = ""
    for byte in path.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2F, 0x2D, 0x2E, 0x5F:
        result.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let hex = String(byte, radix: 16, uppercase: true)
        result += "%" + (hex.count == 1 ? "0" : "") + hex
      }
    }
    return result
  }
}
