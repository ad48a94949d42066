/// Reads the names out of fields such as `Depends` and `Provides`.
enum DependencyField {
  /// The names in a list like `a (>= 1.2) [amd64], b:any | c`: those between commas and bars, in
  /// order, each once.
  ///
  /// - Returns: the names, or the first item that is none.
  static func names(in field: String) -> Result<[String], InvalidItem> {
    var names: [String] = []
    var seen = Set<String>()
    for item in field.utf8.split(whereSeparator: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "|") }) {
      let words = item.drop(while: isSpace)
      let name = words.prefix { !isSpace($0) && !endsName.contains($0) }
      // Programs tolerate a comma too many, and so do we.
      if words.isEmpty { continue }
      guard isName(name) else { return .failure(InvalidItem(text: String(decoding: item, as: UTF8.self))) }
      let text = String(decoding: name, as: UTF8.self)
      if seen.insert(text).inserted { names.append(text) }
    }
    return .success(names)
  }

  struct InvalidItem: Error, Equatable {
    var text: String
  }

  /// Whether bytes are a name as dpkg accepts it.
  static func isName(_ bytes: some Collection<UInt8>) -> Bool {
    guard let first = bytes.first, isLetterOrDigit(first) else { return false }
    return bytes.allSatisfy { isLetterOrDigit($0) || marks.contains($0) }
  }

  private static let endsName = Array("([<:".utf8)
  private static let marks = Array("+-._".utf8)

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\n")
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }
}
