public import Foundation

/// Keyed archives of predicates and expressions in Core Data's form, under its class names and keys.
///
/// ``data(of:)-(NSPredicate)`` writes what Core Data can read, and ``predicate(from:)`` reads what Core Data
/// wrote, with secure coding. The names of classes and keys were read off compiled models. Those of subqueries,
/// conditionals and set operations follow the documentation of their parts.
///
/// The objects also conform to `NSSecureCoding`, for archives of which they are a part. On Linux
/// `NSKeyedArchiver` then writes this library's own class names, because its `setClassName(_:for:)` has no
/// effect, and the archive can be read by this library alone.
///
/// Objects and blocks have no place in an archive, nor does a predicate with an error. The functions here
/// throw then, and `NSKeyedArchiver` ends the program, as Core Data's does with an exception.
///
/// AND, OR and NOT may nest up to 20,000 levels in an archive, and deeper ones are an error. An archive of which a predicate
/// of many levels is a part has the predicate's own archive as data, because an archiver calls itself for each level.
public enum PredicateArchives {
  /// Writes a predicate to a keyed archive.
  ///
  /// - Throws: ``PredicateTreeError`` if the predicate has an error, or a part that can't be archived.
  public static func data(of predicate: NSPredicate) throws -> Data {
    let tree = try predicate.predicateTree()
    try TreeExpression(.conditional(tree, then: .constant(.null), else: .constant(.null))).checkArchivable()
    return try ArchivingThread.run(levels: tree.levels) { try data(TreePredicate.object(.success(tree))) }
  }

  /// Writes an expression to a keyed archive.
  ///
  /// - Throws: ``PredicateTreeError`` if the expression has an error, or a part that can't be archived.
  public static func data(of expression: TreeExpression) throws -> Data {
    try expression.checkArchivable()
    return try data(expression as Any)
  }

  /// Reads a predicate from a keyed archive.
  ///
  /// - Throws: The unarchiver's error, or ``PredicateTreeError`` if the archive has anything but predicates,
  ///   expressions and the values of constants.
  public static func predicate(from data: Data) throws -> NSPredicate {
    guard let predicate = try object(from: data) as? NSPredicate else { throw unreadable("another class") }
    return predicate
  }

  /// Reads an expression from a keyed archive.
  ///
  /// - Throws: The unarchiver's error, or ``PredicateTreeError`` if the archive has anything but predicates,
  ///   expressions and the values of constants.
  public static func expression(from data: Data) throws -> TreeExpression {
    guard let expression = try object(from: data) as? TreeExpression else {
      throw unreadable("another class")
    }
    return expression
  }

  /// Makes `NSKeyedUnarchiver` find the classes of this library under Core Data's names, for the whole
  /// process. ``predicate(from:)`` and ``expression(from:)`` need no call.
  public static func register() {
    for (name, form) in names
    where name.hasSuffix("Predicate") || name.hasSuffix("Expression") || form.isOperator {
      NSKeyedUnarchiver.setClass(form.type, forClassName: name)
    }
  }

  // MARK: Names

  private struct Form {
    let type: AnyClass
    /// The names of the superclasses in Core Data, up to the root.
    let parents: [String]
    var isOperator: Bool { parents.first == "NSPredicateOperator" || type == PredicateOperation.self }
  }

  private static var names: KeyValuePairs<String, Form> {
    func predicate(_ type: AnyClass) -> Form { Form(type: type, parents: ["NSPredicate"]) }
    func expression(_ type: AnyClass) -> Form { Form(type: type, parents: ["NSExpression"]) }
    func operation(_ type: AnyClass) -> Form { Form(type: type, parents: ["NSPredicateOperator"]) }
    return [
      "NSComparisonPredicate": predicate(TreeComparisonPredicate.self),
      "NSCompoundPredicate": predicate(TreeCompoundPredicate.self),
      "NSTruePredicate": predicate(ArchivedTruePredicate.self),
      "NSFalsePredicate": predicate(ArchivedFalsePredicate.self),
      "NSConstantValueExpression": expression(ArchivedConstantValue.self),
      "NSSelfExpression": expression(ArchivedSelf.self),
      "NSVariableExpression": expression(ArchivedVariable.self),
      "NSKeyPathExpression": Form(
        type: ArchivedKeyPath.self, parents: ["NSFunctionExpression", "NSExpression"]),
      "NSKeyPathSpecifierExpression": expression(ArchivedKeyPathSpecifier.self),
      "NSFunctionExpression": expression(ArchivedFunction.self),
      "NSSubqueryExpression": expression(ArchivedSubquery.self),
      "NSAggregateExpression": expression(ArchivedAggregate.self),
      "NSSetExpression": expression(ArchivedSet.self),
      "NSTernaryExpression": expression(ArchivedConditional.self),
      "NSEqualityPredicateOperator": operation(ArchivedEquality.self),
      "NSComparisonPredicateOperator": operation(ArchivedOrder.self),
      "NSSubstringPredicateOperator": operation(ArchivedSubstring.self),
      "NSLikePredicateOperator": operation(ArchivedLike.self),
      "NSMatchingPredicateOperator": operation(ArchivedMatch.self),
      "NSInPredicateOperator": operation(ArchivedIn.self),
      "NSBetweenPredicateOperator": operation(ArchivedBetween.self),
      "NSPredicateOperator": Form(type: PredicateOperation.self, parents: []),
      "NSDecimalNumber": Form(type: ArchivedDecimal.self, parents: ["NSNumber", "NSValue"]),
      "NSDecimalNumberPlaceholder": Form(
        type: ArchivedDecimal.self, parents: ["NSDecimalNumber", "NSNumber", "NSValue"]),
    ]
  }

  /// This library's class under a name of Core Data's.
  static func type(named name: String) -> AnyClass? { names.first { $0.key == name }?.value.type }

  // NSObject's description of a class, which NSKeyedArchiver writes.
  private static func archivedName(_ type: AnyClass) -> String { NSStringFromClass(type) }

  private static let valueNames: Set<String> = [
    "NSString", "NSMutableString", "NSNumber", "NSDate", "NSData", "NSMutableData", "NSUUID", "NSURL",
    "NSNull",
    "NSArray", "NSMutableArray", "NSSet", "NSMutableSet", "NSOrderedSet", "NSMutableOrderedSet", "NSValue",
  ]

  static let predicateClasses: [AnyClass] = [TreePredicate.self, TreeCompoundPredicate.self]

  /// The classes of constants.
  static let valueClasses: [AnyClass] = [
    NSString.self, NSNumber.self, NSDate.self, NSData.self, NSUUID.self, NSURL.self, NSNull.self,
    NSArray.self, NSSet.self, NSOrderedSet.self, ArchivedDecimal.self,
  ]

  /// All classes in an archive. A class that an unarchiver does not allow ends the program on Linux, so each
  /// place allows all of them and looks at what it got.
  static let classes: [AnyClass] =
    predicateClasses + valueClasses + [TreeExpression.self, PredicateOperation.self]

  // MARK: Reading and writing

  private static func data(_ object: Any) throws -> Data {
    let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    var list = try propertyList(data)
    var forms: [String: (name: String, parents: [String])] = [:]
    for (name, form) in names where forms[archivedName(form.type)] == nil {
      forms[archivedName(form.type)] = (name, form.parents)
    }
    list["$objects"] = (list["$objects"] as? [Any] ?? []).map { object in
      guard var description = object as? [String: Any], let name = description["$classname"] as? String,
        let form = forms[name]
      else { return object }
      description["$classname"] = form.name
      description["$classes"] = [form.name] + form.parents + ["NSObject"]
      return description
    }
    return try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
  }

  private static func object(from data: Data) throws -> Any? {
    let list = try propertyList(data)
    var known = valueNames
    for (name, form) in names { known.formUnion([name, archivedName(form.type)]) }
    let objects = (list["$objects"] as? [Any] ?? []).compactMap { $0 as? [String: Any] }
    for description in objects {
      if let name = description["$classname"], !known.contains(name as? String ?? "") {
        throw unreadable("\(name)")
      }
    }
    let compounds = objects.count { $0["NSCompoundPredicateType"] != nil }
    return try ArchivingThread.run(levels: compounds) {
      try object(unarchiving: data)
    }
  }

  private static func object(unarchiving data: Data) throws -> Any? {
    let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
    unarchiver.requiresSecureCoding = true
    unarchiver.decodingFailurePolicy = .setErrorAndReturn
    for (name, form) in names { unarchiver.setClass(form.type, forClassName: name) }
    defer { unarchiver.finishDecoding() }
    let object = unarchiver.decodeObject(of: classes, forKey: NSKeyedArchiveRootObjectKey)
    if let error = unarchiver.error { throw error }
    return object
  }

  private static func propertyList(_ data: Data) throws -> [String: Any] {
    let list = try PropertyListSerialization.propertyList(from: data, format: nil)
    guard let dictionary = list as? [String: Any] else { throw unreadable("no dictionary") }
    return dictionary
  }

  private static func unreadable(_ what: String) -> PredicateTreeError {
    PredicateTreeError(
      .unsupported, construct: "archive",
      "the data is no archive of a predicate or expression: it has \(what); pass what PredicateArchives or Core Data "
        + "wrote")
  }
}

// An archive names classes, so each name has one.
final class ArchivedTruePredicate: TreePredicate {}
final class ArchivedFalsePredicate: TreePredicate {}
final class ArchivedConstantValue: TreeExpression {}
final class ArchivedSelf: TreeExpression {}
final class ArchivedVariable: TreeExpression {}
final class ArchivedKeyPath: TreeExpression {}
final class ArchivedFunction: TreeExpression {}
final class ArchivedSubquery: TreeExpression {}
final class ArchivedAggregate: TreeExpression {}
final class ArchivedSet: TreeExpression {}
final class ArchivedConditional: TreeExpression {}
final class ArchivedEquality: PredicateOperation {}
final class ArchivedOrder: PredicateOperation {}
final class ArchivedSubstring: PredicateOperation {}
final class ArchivedLike: PredicateOperation {}
final class ArchivedMatch: PredicateOperation {}
final class ArchivedIn: PredicateOperation {}
final class ArchivedBetween: PredicateOperation {}

/// The key path in an archived key path expression.
final class ArchivedKeyPathSpecifier: TreeExpression {
  private let text: String

  init(_ text: String) {
    self.text = text
    super.init(.success(.constant(.string(text))), .plain)
  }

  required init?(coder: NSCoder) {
    guard let text = coder.text(forKey: "NSKeyPath") else { return nil }
    self.text = text
    super.init(.success(.constant(.string(text))), .plain)
  }

  override func encode(with coder: NSCoder) {
    coder.encode(10, forKey: "NSExpressionType")
    coder.encode(NSString(string: text), forKey: "NSKeyPath")
  }

  override var classForKeyedArchiver: AnyClass? { ArchivedKeyPathSpecifier.self }
}

/// The operator of an archived comparison.
class PredicateOperation: NSObject, NSSecureCoding {
  typealias Form = (
    modifier: TreeComparisonPredicate.Modifier, type: TreeComparisonPredicate.Operator,
    options: TreeComparisonPredicate.Options
  )

  let form: Form

  init(_ form: Form) { self.form = form }

  required init?(coder: NSCoder) {
    let options = coder.containsValue(forKey: "NSOptions") ? "NSOptions" : "NSFlags"
    guard
      var type = TreeComparisonPredicate.Operator(coder.decodeInteger(forKey: "NSOperatorType")),
      let modifier = TreeComparisonPredicate.Modifier(coder.decodeInteger(forKey: "NSModifier"))
    else { return nil }
    if type == .equalTo, coder.decodeBool(forKey: "NSNegate") { type = .notEqualTo }
    let bits = coder.containsValue(forKey: options) ? coder.decodeInteger(forKey: options) : 0
    form = (modifier, type, .init(rawValue: UInt(truncatingIfNeeded: bits & 15)))
  }

  class var supportsSecureCoding: Bool { true }

  func encode(with coder: NSCoder) {
    coder.encode(Int(form.type.rawValue), forKey: "NSOperatorType")
    coder.encode(Int(form.modifier.rawValue), forKey: "NSModifier")
    coder.encode(Int(form.options.rawValue), forKey: "NSOptions")
    if [.equalTo, .notEqualTo].contains(form.type) {
      coder.encode(form.type == .notEqualTo, forKey: "NSNegate")
    }
  }

  override var classForKeyedArchiver: AnyClass? { PredicateArchives.type(named: form.type.archivedClassName) }
}

extension RawRepresentable where RawValue == UInt {
  /// The case of an archived number, if there is one.
  fileprivate init?(_ number: Int) {
    guard let raw = UInt(exactly: number), let value = Self(rawValue: raw) else { return nil }
    self = value
  }
}

extension NSCoder {
  func text(forKey key: String) -> String? {
    decodeObject(of: PredicateArchives.classes, forKey: key) as? String
  }
}
