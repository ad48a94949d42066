import CDEManagedModel
import CDEModelRuntime
import Foundation

/// Values of attributes as people and as programs read them.
enum ValueText {
  static func cell(_ value: Any?, _ attribute: NSAttributeDescription) -> Cell {
    guard let value = unwrapped(value) else { return .none }
    switch (attribute.attributeType, value) {
    case (.integer16AttributeType, let number as NSNumber), (.integer32AttributeType, let number as NSNumber),
      (.integer64AttributeType, let number as NSNumber):
      return Cell(Int(number.int64Value))
    case (.booleanAttributeType, let number as NSNumber):
      return Cell(number.boolValue ? "true" : "false", .bool(number.boolValue))
    case (.booleanAttributeType, let flag as Bool): return Cell(flag ? "true" : "false", .bool(flag))
    case (.compositeAttributeType, let values as [String: Any]):
      let elements = (attribute as? NSCompositeAttributeDescription)?.elements ?? []
      let cells = elements.compactMap { element -> (String, Cell)? in
        unwrapped(values[element.name]).map { (element.name, cell($0, element)) }
      }
      return Cell(
        "{" + cells.map { "\($0): \($1.text)" }.joined(separator: ", ") + "}",
        .object(cells.map { JSONValue.Member($0, $1.json) }))
    default: return cell(value)
    }
  }

  /// A value whose attribute is not known, such as one in an archive.
  static func cell(_ value: Any?) -> Cell {
    guard let value = unwrapped(value) else { return .none }
    switch value {
    case let text as String: return Cell(text)
    case let date as Date: return Cell(DateText.text(date))
    case let id as UUID: return Cell(id.uuidString)
    case let url as URL: return Cell(url.absoluteString)
    case let data as Data: return Cell(summary(of: data), .string(data.base64EncodedString()))
    case let decimal as Decimal: return number(decimal.description)
    case let undecoded as UndecodedValue:
      let text = PropertyListText.decoded(undecoded.data) ?? summary(of: undecoded.data)
      return Cell(text, .string(undecoded.data.base64EncodedString()))
    case let number as NSNumber where type(of: value) is NSNumber.Type: return cell(of: number)
    case let flag as Bool: return Cell(flag ? "true" : "false", .bool(flag))
    case let float as Float: return number(float.isFinite ? "\(float)" : nil, "\(float)")
    case let double as Double: return number(double.isFinite ? "\(double)" : nil, "\(double)")
    case let integer as any BinaryInteger: return number(String(integer))
    case let list as [Any]:
      let cells = list.map { cell($0) }
      return Cell("[" + cells.map(\.text).joined(separator: ", ") + "]", .array(cells.map(\.json)))
    case let values as [String: Any]:
      let cells = values.sorted { $0.key < $1.key }.map { ($0.key, cell($0.value)) }
      return Cell(
        "{" + cells.map { "\($0): \($1.text)" }.joined(separator: ", ") + "}",
        .object(cells.map { JSONValue.Member($0, $1.json) }))
    default: return Cell("\(value)")
    }
  }

  /// Whether a value consists of what JSON has: texts, numbers, truth values, lists and dictionaries.
  static func isPlain(_ value: Any?) -> Bool {
    guard let value = unwrapped(value) else { return true }
    switch value {
    case is String: return true
    case let list as [Any]: return list.allSatisfy(isPlain)
    case let values as [String: Any]: return values.values.allSatisfy(isPlain)
    default:
      return switch cell(value).json {
      case .number, .bool: true
      default: false
      }
    }
  }

  private static func cell(of number: NSNumber) -> Cell {
    switch number.objCType.pointee {
    case 0x63, 0x42: Cell(number.boolValue ? "true" : "false", .bool(number.boolValue))
    case 0x64, 0x66:
      self.number(number.doubleValue.isFinite ? number.stringValue : nil, "\(number.doubleValue)")
    default: self.number(number.stringValue)
    }
  }

  /// A number as JSON writes it; text for what JSON has no number for.
  private static func number(_ text: String?, _ otherwise: String = "") -> Cell {
    guard let text, Double(text) != nil, text != "nan", !text.contains("inf"), !text.contains("NaN") else {
      return Cell(text ?? otherwise)
    }
    return Cell(text, .number(text))
  }

  private static func unwrapped(_ value: Any?) -> Any? {
    guard let value, !(value is NSNull) else { return nil }
    let mirror = Mirror(reflecting: value)
    guard mirror.displayStyle == .optional else { return value }
    return mirror.children.first.flatMap { unwrapped($0.value) }
  }

  /// What bytes are, as far as their beginning tells, and how many.
  static func summary(of data: Data) -> String {
    let kinds: [([UInt8], String)] = [
      ([0x89, 0x50, 0x4E, 0x47], "PNG image"), ([0xFF, 0xD8, 0xFF], "JPEG image"),
      ([0x47, 0x49, 0x46, 0x38], "GIF image"),
      ([0x25, 0x50, 0x44, 0x46], "PDF"), ([0x50, 0x4B, 0x03, 0x04], "ZIP archive"),
      ([0x1F, 0x8B], "gzip data"),
      (Array("bplist00".utf8), "property list"), (Array("SQLite format 3".utf8), "SQLite file"),
    ]
    let kind = kinds.first { data.starts(with: $0.0) }?.1
    return "<\(kind.map { "\($0), " } ?? "")\(data.count) byte\(data.count == 1 ? "" : "s")>"
  }
}

/// The contents of archives whose classes are not in this program.
enum PropertyListText {
  /// The objects of a keyed archive as text; nil for other bytes.
  static func decoded(_ data: Data) -> String? {
    guard data.starts(with: Array("bplist00".utf8)),
      let list = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
    else { return nil }
    guard list["$archiver"] != nil, let objects = list["$objects"] as? [Any] else {
      return ValueText.cell(list).text
    }
    // The references of an archive are opaque objects. Its texts and numbers say what it holds.
    let values = objects.dropFirst().compactMap { object -> String? in
      switch object {
      case let text as String where text != "$null": text
      case let number as NSNumber: number.stringValue
      default: nil
      }
    }
    return values.isEmpty
      ? nil : "<archive: " + values.prefix(8).joined(separator: ", ") + (values.count > 8 ? ", …" : "") + ">"
  }
}
