@_spi(CDE) internal import CDEManagedModel
internal import CDEPredicates
internal import Foundation

/// Builds a keyed archive, in the form of `NSKeyedArchiver`: objects that refer to each other by number.
///
/// Objects that refer to each other in a circle get their numbers first and their fields later, so that no
/// chain of references becomes a recursion. Equal calls give equal bytes.
struct ArchiveBuilder {
  typealias Fields = [String: PropertyListNode]

  private var objects: [PropertyListNode] = [.string("$null")]
  private var strings: [[UInt8]: Int] = [:]
  private var classes: [String: Int] = [:]

  /// The forms of key paths, which differ between the files of Core Data's compilers.
  enum KeyPaths {
    /// As in models: `valueForKey:` for a single key.
    case plain
    /// As in mapping models: always the function `valueForKeyPath:`.
    case functions
  }

  let keyPaths: KeyPaths

  init(keyPaths: KeyPaths = .plain) { self.keyPaths = keyPaths }

  /// No object.
  static let null = PropertyListNode.reference(0)

  func data(root: Int) -> Data {
    BinaryPropertyListWriter.data(
      .dictionary([
        "$version": .integer(100_000), "$archiver": .string("NSKeyedArchiver"),
        "$top": .dictionary(["root": .reference(root)]), "$objects": .array(objects),
      ]))
  }

  // MARK: Objects

  /// The number of an object whose fields follow.
  mutating func reserve() -> Int {
    objects.append(.null)
    return objects.count - 1
  }

  mutating func set(_ index: Int, _ className: String, _ fields: Fields) {
    var fields = fields
    fields["$class"] = .reference(classIndex(className))
    objects[index] = .dictionary(fields)
  }

  mutating func object(_ className: String, _ fields: Fields) -> PropertyListNode {
    let index = reserve()
    set(index, className, fields)
    return .reference(index)
  }

  private mutating func plain(_ node: PropertyListNode) -> PropertyListNode {
    objects.append(node)
    return .reference(objects.count - 1)
  }

  private mutating func classIndex(_ name: String) -> Int {
    if let known = classes[name] { return known }
    let chain = [name] + (Self.parents[name] ?? []) + ["NSObject"]
    let index = reserve()
    objects[index] = .dictionary([
      "$classname": .string(name), "$classes": .array(chain.map { .string($0) }),
    ])
    classes[name] = index
    return index
  }

  /// The classes between a class and `NSObject`.
  private static let parents: [String: [String]] = [
    "NSMutableDictionary": ["NSDictionary"], "NSMutableArray": ["NSArray"],
    "NSAttributeDescription": ["NSPropertyDescription"],
    "NSDerivedAttributeDescription": ["NSAttributeDescription", "NSPropertyDescription"],
    "NSCompositeAttributeDescription": ["NSAttributeDescription", "NSPropertyDescription"],
    "NSRelationshipDescription": ["NSPropertyDescription"],
    "NSFetchedPropertyDescription": ["NSPropertyDescription"],
    "NSFetchRequest": ["NSPersistentStoreRequest"],
    "NSDecimalNumberPlaceholder": ["NSDecimalNumber", "NSNumber", "NSValue"],
    "NSComparisonPredicate": ["NSPredicate"], "NSCompoundPredicate": ["NSPredicate"],
    "NSTruePredicate": ["NSPredicate"], "NSFalsePredicate": ["NSPredicate"],
    "NSEqualityPredicateOperator": ["NSPredicateOperator"],
    "NSComparisonPredicateOperator": ["NSPredicateOperator"],
    "NSBetweenPredicateOperator": ["NSPredicateOperator"],
    "NSInPredicateOperator": ["NSPredicateOperator"],
    "NSSubstringPredicateOperator": ["NSStringPredicateOperator", "NSPredicateOperator"],
    "NSMatchingPredicateOperator": ["NSStringPredicateOperator", "NSPredicateOperator"],
    "NSLikePredicateOperator": [
      "NSMatchingPredicateOperator", "NSStringPredicateOperator", "NSPredicateOperator",
    ],
    "NSConstantValueExpression": ["NSExpression"], "NSSelfExpression": ["NSExpression"],
    "NSVariableExpression": ["NSExpression"], "NSKeyPathSpecifierExpression": ["NSExpression"],
    "NSFunctionExpression": ["NSExpression"],
    "NSKeyPathExpression": ["NSFunctionExpression", "NSExpression"],
    "NSAggregateExpression": ["NSExpression"], "NSSubqueryExpression": ["NSExpression"],
    "NSTernaryExpression": ["NSExpression"], "NSFetchRequestExpression": ["NSExpression"],
  ]

  // MARK: Values

  mutating func string(_ text: String) -> PropertyListNode {
    // By bytes, because Swift treats composed and decomposed characters as equal.
    let bytes = Array(text.utf8)
    if let known = strings[bytes] { return .reference(known) }
    // No other object has this text, because readers take it for nil.
    let result = text == "$null" ? object("NSString", ["NS.string": .string(text)]) : plain(.string(text))
    if case .reference(let index) = result { strings[bytes] = index }
    return result
  }

  mutating func string(_ text: String?) -> PropertyListNode { text.map { string($0) } ?? Self.null }

  mutating func array(_ members: [PropertyListNode], class name: String = "NSArray") -> PropertyListNode {
    object(name, ["NS.objects": .array(members)])
  }

  mutating func dictionary(
    _ entries: [(String, PropertyListNode)], class name: String = "NSMutableDictionary"
  ) -> PropertyListNode {
    let keys = entries.map { string($0.0) }
    return object(name, ["NS.keys": .array(keys), "NS.objects": .array(entries.map(\.1))])
  }

  mutating func data(_ data: Data?) -> PropertyListNode { data.map { plain(.data($0)) } ?? Self.null }

  /// The entries of a user info that have a form in archives.
  mutating func userInfo(_ info: [AnyHashable: Any]?) -> PropertyListNode {
    guard let info else { return Self.null }
    var entries: [(String, PropertyListNode)] = []
    let texts = info.compactMap { key, value in (key.base as? String).map { ($0, value) } }
    for (key, value) in texts.sorted(by: { $0.0 < $1.0 }) {
      guard let constant = PredicateConstant(described: value), let node = self.constant(constant) else {
        continue
      }
      entries.append((key, node))
    }
    return dictionary(entries, class: "NSDictionary")
  }

  mutating func constant(_ constant: PredicateConstant) -> PropertyListNode? {
    switch constant {
    case .null: return Self.null
    case .bool(let value): return plain(.bool(value))
    case .integer(let value): return plain(.integer(value))
    case .double(let value): return plain(.real(value))
    case .string(let value): return string(value)
    case .data(let value): return plain(.data(value))
    case .date(let value):
      return object("NSDate", ["NS.time": .real(value.timeIntervalSinceReferenceDate)])
    case .uuid(let value):
      return object("NSUUID", ["NS.uuidbytes": .data(withUnsafeBytes(of: value.uuid) { Data($0) })])
    case .url(let value):
      let text = string(value.absoluteString)
      return object("NSURL", ["NS.base": Self.null, "NS.relative": text])
    case .decimal(let value): return decimal(value)
    case .list(let values):
      var members: [PropertyListNode] = []
      for value in values {
        guard let member = self.constant(value) else { return nil }
        members.append(member)
      }
      return array(members)
    case .object: return nil
    }
  }

  private mutating func decimal(_ value: Decimal) -> PropertyListNode? {
    guard !value.isNaN, var mantissa = UInt128(value.significand.magnitude.description) else { return nil }
    let length = (UInt128.bitWidth - mantissa.leadingZeroBitCount + 15) / 16
    var bytes: [UInt8] = []
    for _ in 0..<16 {
      bytes.append(UInt8(truncatingIfNeeded: mantissa))
      mantissa >>= 8
    }
    return object(
      "NSDecimalNumberPlaceholder",
      [
        "NS.exponent": .integer(Int64(value.exponent)), "NS.length": .integer(Int64(length)),
        "NS.negative": .bool(value.sign == .minus), "NS.compact": .bool(false),
        // 1 means little endian.
        "NS.mantissa.bo": .integer(1), "NS.mantissa": .data(Data(bytes)),
      ])
  }
}
