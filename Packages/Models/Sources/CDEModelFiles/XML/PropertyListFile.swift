@_spi(CDE) internal import CDEManagedModel
internal import Foundation

/// Property lists in XML or in the binary format, such as `.xccurrentversion` and `VersionInfo.plist`.
enum PropertyListFile {
  static func read(_ data: Data, file: String) throws(ModelFileError) -> PropertyListNode {
    if data.starts(with: Data("bplist".utf8)) {
      guard let node = BinaryPropertyListReader.read(data) else {
        throw ModelFileError(
          .damaged, "The binary property list is damaged. Restore the file.", file: file)
      }
      return node
    }
    var reader = try XMLReader(data, file: file, documentType: .skipped)
    var result: PropertyListNode?
    while true {
      switch try reader.next() {
      case .start(let tag):
        guard tag.name == "plist" else {
          throw reader.error(
            .unsupportedFormat, "The file is no property list: its root element is <\(tag.name)>.",
            in: tag)
        }
        result = try members(&reader).first ?? .dictionary([:])
      case .finished:
        guard let result else { throw reader.error(.damaged, "The property list has no value.", in: nil) }
        return result
      case .end, .text: break
      }
    }
  }

  /// The values up to the end of the element that was started last.
  private static func members(_ reader: inout XMLReader) throws(ModelFileError) -> [PropertyListNode] {
    var result: [PropertyListNode] = []
    while true {
      switch try reader.next() {
      case .start(let tag): result.append(try value(tag, &reader))
      case .end, .finished: return result
      case .text: break
      }
    }
  }

  private static func value(
    _ tag: XMLTag, _ reader: inout XMLReader
  ) throws(ModelFileError) -> PropertyListNode {
    func bad() -> ModelFileError {
      reader.error(.damaged, "The value of <\(tag.name)> is malformed.", in: tag)
    }
    switch tag.name {
    case "array": return .array(try members(&reader))
    case "dict":
      let all = try members(&reader)
      guard all.count.isMultiple(of: 2) else { throw bad() }
      var result: [String: PropertyListNode] = [:]
      for index in stride(from: 0, to: all.count, by: 2) {
        guard case .string(let key) = all[index] else { throw bad() }
        result[key] = all[index + 1]
      }
      return .dictionary(result)
    case "true", "false":
      try reader.skipElement()
      return .bool(tag.name == "true")
    case "string", "key": return .string(try reader.elementText())
    case "integer":
      guard let number = Int64(trimmed(try reader.elementText())) else { throw bad() }
      return .integer(number)
    case "real":
      guard let number = Double(trimmed(try reader.elementText())) else { throw bad() }
      return .real(number)
    case "data":
      let text = try reader.elementText().filter { !$0.isWhitespace }
      guard let data = Data(base64Encoded: text) else { throw bad() }
      return .data(data)
    default:
      // A date, or an element of a later format. No file of a model needs it.
      try reader.skipElement()
      return .null
    }
  }

  private static func trimmed(_ text: String) -> String {
    text.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}

extension PropertyListNode {
  /// The value of a dictionary's key; `nil` when there is none, or when this is no dictionary.
  subscript(key: String) -> PropertyListNode? {
    if case .dictionary(let members) = self { members[key] } else { nil }
  }

  /// The text, if this is one.
  var text: String? {
    if case .string(let text) = self { text } else { nil }
  }
}
