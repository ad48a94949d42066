import CoreDataEvolution

/// Base64 with letters that need no escape in an address (RFC 4648, section 5).
enum Base64URL {
  static func encode(_ data: Data) -> String {
    data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  static func decode(_ text: String) -> Data? {
    let base64 = text.replacing("-", with: "+").replacing("_", with: "/")
    return Data(base64Encoded: base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4))
  }
}

extension String {
  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  /// The text as a part of an address's path or query.
  var escaped: String { addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? "" }
}
