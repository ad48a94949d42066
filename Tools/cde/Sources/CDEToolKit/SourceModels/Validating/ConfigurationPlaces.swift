import Foundation

/// Where a key stands in a configuration file.
enum ConfigurationPlaces {
  /// The place of the last of the keys that a path joins by dots; nil if the file does not have them.
  static func place(of path: String, sections: [String], _ file: URL?) -> (
    file: String, line: Int, column: Int
  )? {
    guard let file, let data = FileManager.default.contents(atPath: file.path) else { return nil }
    let text = String(decoding: data, as: UTF8.self)
    // An index in brackets has no key.
    let keys = path.split(separator: ".").map { String($0.prefix { $0 != "[" }) }
    let starts = path.hasPrefix("proposals") || path.isEmpty ? [[]] : sections.map { [$0] }
    for start in starts {
      if let place = find(start + keys, in: text) { return (file.path, place.line, place.column) }
    }
    return (file.path, 1, 1)
  }

  private static func find(_ keys: [String], in text: String) -> (line: Int, column: Int)? {
    var position = text.startIndex
    var found: String.Index?
    for key in keys {
      guard let range = text.range(of: "\"\(key)\"", range: position..<text.endIndex) else { return nil }
      found = range.lowerBound
      position = range.upperBound
    }
    guard let found else { return nil }
    let before = text[..<found]
    let column = (before.lastIndex(of: "\n").map { before[$0...].dropFirst() } ?? before).utf8.count + 1
    return (before.utf8.count { $0 == 0x0A } + 1, column)
  }
}
