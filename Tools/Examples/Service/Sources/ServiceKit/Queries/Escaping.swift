import CoreDataEvolution

/// Base64 with letters that need no escape in an address (RFC 4648, section 5).
enum Base64URL {
  static func encode(_ data: Data) -> String {
    let letters = data.base64EncodedData().compactMap { letter -> UInt8? in
      switch letter {
      case UInt8(ascii: "+"): UInt8(ascii: "-")
      case UInt8(ascii: "/"): UInt8(ascii: "_")
      case UInt8(ascii: "="): nil
      default: letter
      }
    }
    return String(decoding: letters, as: UTF8.self)
  }

  static func decode(_ text: String) -> Data? {
    let base64 = text.replacing("-", with: "+").replacing("_", with: "/")
    return Data(base64Encoded: base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4))
  }
}

extension String {
  private static let digits = Array("0123456789ABCDEF".utf8)

  /// The text as a part of an address's path or query: all but unreserved letters (RFC 3986, section 2.3) as percent escapes.
  var escaped: String {
    var escaped: [UInt8] = []
    escaped.reserveCapacity(utf8.count + 16)
    for byte in utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: escaped.append(byte)
      default: escaped += [0x25, Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)]]
      }
    }
    return String(decoding: escaped, as: UTF8.self)
  }
}
