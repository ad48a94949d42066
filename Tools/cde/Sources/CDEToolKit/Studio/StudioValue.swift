import CDEManagedModel
import CDEModelRuntime
import Foundation

/// A value of an attribute as a page shows and edits it.
struct StudioValue {
  private let attribute: NSAttributeDescription
  private let cell: Cell
  /// Whether the page may send the text back. Values of unknown classes and bytes have a summary only.
  let isText: Bool
  private let elements: [(name: String, value: StudioValue)]
  /// The bytes of a binary value.
  private let data: Data?

  /// Longer texts would make the page slow. They stay as they are.
  static let longest = 200_000

  init(_ value: Any?, _ attribute: NSAttributeDescription) {
    self.attribute = attribute
    cell = ValueText.cell(value, attribute)
    var isText = cell.text.utf8.count <= Self.longest
    var elements: [(name: String, value: StudioValue)] = []
    data = attribute.attributeType == .binaryDataAttributeType ? value as? Data : nil
    switch attribute {
    case let composite as NSCompositeAttributeDescription:
      let values = value as? [String: Any] ?? [:]
      elements = composite.elements.map { ($0.name, StudioValue(values[$0.name], $0)) }
    default: break
    }
    switch attribute.attributeType {
    case .binaryDataAttributeType: isText = false
    case .transformableAttributeType:
      // A date, a number or an object of a class would come back as a text.
      let text = RecordReader.transformable(.string(Self.text(cell)))
      isText = isText && ValueText.isPlain(value) && (value == nil || ValueText.cell(text).json == cell.json)
    default: break
    }
    self.isText = isText
    self.elements = elements
  }

  /// The text with which a page's values are compared; nil for no value.
  var text: String? {
    if cell.json == .null { return nil }
    return attribute.attributeType == .transformableAttributeType && isText ? Self.text(cell) : cell.text
  }

  /// A list and an object as JSON.
  private static func text(_ cell: Cell) -> String {
    switch cell.json {
    case .array, .object: cell.json.text(indented: false)
    default: cell.text
    }
  }

  /// The value in the form in which a page sends it.
  var edited: JSONValue {
    if !elements.isEmpty { return .object(elements.map { .init($0.name, $0.value.edited) }) }
    if let stamp { return .string(stamp) }
    return text.map { .string($0) } ?? .null
  }

  /// What differs between two binary values, in place of their bytes.
  private var stamp: String? {
    data.map { data in
      // FNV-1a, as a page and the store are compared, and no enemy makes the bytes.
      let hash = data.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
      return "\(data.count)-\(String(hash, radix: 16))"
    }
  }

  /// The value in a sentence.
  var shown: String { text ?? "nil" }

  /// - Parameter isUnread: whether the store has a value that could not be read.
  func json(_ name: String, isUnread: Bool = false) -> JSONValue {
    var members: [JSONValue.Member] = [
      .init("name", .string(name)),
      .init("value", text.map { .string(Studio.shortened($0, to: Self.longest)) } ?? .null),
      .init("text", .bool(isText)),
    ]
    if !elements.isEmpty {
      members.append(.init("elements", .array(elements.map { $0.value.json($0.name) })))
    }
    if isUnread { members.append(.init("unread", .bool(true))) }
    if let data, let stamp {
      members.append(.init("bytes", .int(data.count)))
      members.append(.init("stamp", .string(stamp)))
      members.append(.init("picture", .bool(cell.text.contains("image"))))
    }
    return .object(members)
  }
}
