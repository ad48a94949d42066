@_spi(CDE) internal import CDEExecutors
internal import Foundation

extension TreeExpression {
  var archivedClass: AnyClass {
    switch expressionType {
    case .constantValue, .anyKey, .block: return ArchivedConstantValue.self
    case .evaluatedObject: return ArchivedSelf.self
    case .variable: return ArchivedVariable.self
    case .keyPath: return ArchivedKeyPath.self
    case .function: return ArchivedFunction.self
    case .unionSet, .intersectSet, .minusSet: return ArchivedSet.self
    case .subquery: return ArchivedSubquery.self
    case .aggregate: return ArchivedAggregate.self
    case .conditional: return ArchivedConditional.self
    }
  }

  func write(to coder: NSCoder) {
    let type = expressionType
    if case .failure(let error) = result, type != .function {
      failPrecondition("An expression with an error can't be archived: \(error.message).")
    }
    coder.encode(Int(type.rawValue), forKey: "NSExpressionType")
    switch type {
    case .constantValue, .anyKey, .block: write(constantTo: coder)
    case .evaluatedObject: break
    case .variable: coder.encode(NSString(string: variable), forKey: "NSVariable")
    case .keyPath:
      let path = keyPath
      coder.encode(operand, forKey: "NSOperand")
      coder.encode(
        NSString(string: path.contains(".") ? "valueForKeyPath:" : "valueForKey:"), forKey: "NSSelectorName")
      coder.encode(ArchivedList([ArchivedKeyPathSpecifier(path)]), forKey: "NSArguments")
    case .function:
      // A predefined function is a method of a class of Core Data, which the archive names.
      let operand = isPredefined ? PredefinedFunctions() : operand
      coder.encode(operand, forKey: "NSOperand")
      coder.encode(NSString(string: function), forKey: "NSSelectorName")
      coder.encode(ArchivedList(arguments ?? []), forKey: "NSArguments")
    case .unionSet, .intersectSet, .minusSet:
      coder.encode(left, forKey: "NSLeftExpression")
      coder.encode(right, forKey: "NSRightExpression")
    case .subquery:
      coder.encode(collection, forKey: "NSCollection")
      coder.encode(NSString(string: variable), forKey: "NSVariable")
      coder.encode(predicate, forKey: "NSPredicate")
    case .aggregate:
      coder.encode(ArchivedList(collection as? [TreeExpression] ?? []), forKey: "NSCollection")
    case .conditional:
      coder.encode(predicate, forKey: "NSPredicate")
      coder.encode(self.true, forKey: "NSTrueExpression")
      coder.encode(self.false, forKey: "NSFalseExpression")
    }
  }

  private func write(constantTo coder: NSCoder) {
    guard case .constant(let constant)? = try? result.get() else { return }
    guard let value = constant.archivedValue else {
      failPrecondition(
        "An object can't be archived in a predicate; compare with a value, or use a variable.")
    }
    if constant != .null { coder.encode(value, forKey: "NSConstantValue") }
  }

  private var isPredefined: Bool {
    if case .call? = try? result.get() { return false }
    return true
  }

  /// - Throws: ``PredicateTreeError`` if `write(to:)` would end the program.
  func checkArchivable() throws(PredicateTreeError) {
    if case .function(_, let arguments) = form {
      for argument in arguments { try argument.checkArchivable() }
    } else if try result.get().hasObject {
      throw PredicateTreeError(
        .unsupported, construct: "an object",
        "an object can't be archived in a predicate; compare with a value, or use a variable")
    }
  }

  // MARK: Reading

  static func decoded(_ coder: NSCoder) -> (Result<ExpressionTree, PredicateTreeError>, Form)? {
    let archived = self == TreeExpression.self ? nil : self
    let expression: TreeExpression?
    switch archived {
    case is ArchivedConstantValue.Type: expression = constant(coder)
    case is ArchivedSelf.Type: expression = TreeExpression(.evaluatedObject)
    case is ArchivedVariable.Type:
      expression = coder.text(forKey: "NSVariable").map { TreeExpression(forVariable: $0) }
    case is ArchivedKeyPath.Type, is ArchivedFunction.Type: expression = function(coder)
    case is ArchivedSet.Type: expression = set(coder)
    case is ArchivedSubquery.Type: expression = subquery(coder)
    case is ArchivedAggregate.Type:
      expression = coder.expressions(forKey: "NSCollection").map { TreeExpression(forAggregate: $0) }
    case is ArchivedConditional.Type: expression = conditional(coder)
    default: expression = nil
    }
    return expression.map { ($0.result, $0.form) }
  }

  private static func constant(_ coder: NSCoder) -> TreeExpression? {
    if coder.containsValue(forKey: "NSConstantValueClassName") { return TreeExpression(predefined) }
    guard coder.containsValue(forKey: "NSConstantValue") else { return TreeExpression(.constant(.null)) }
    let value = coder.decodeObject(of: PredicateArchives.classes, forKey: "NSConstantValue")
    return TreeExpression(forConstantValue: value)
  }

  private static func function(_ coder: NSCoder) -> TreeExpression? {
    guard let operand = coder.expression(forKey: "NSOperand"),
      let selector = coder.text(forKey: "NSSelectorName"),
      let arguments = coder.expressions(forKey: "NSArguments")
    else { return nil }
    return TreeExpression(forFunction: operand, selectorName: selector, arguments: arguments)
  }

  private static func set(_ coder: NSCoder) -> TreeExpression? {
    guard let left = coder.expression(forKey: "NSLeftExpression"),
      let right = coder.expression(forKey: "NSRightExpression")
    else { return nil }
    switch coder.decodeInteger(forKey: "NSExpressionType") {
    case 5: return TreeExpression(forUnionSet: left, with: right)
    case 6: return TreeExpression(forIntersectSet: left, with: right)
    case 7: return TreeExpression(forMinusSet: left, with: right)
    default: return nil
    }
  }

  private static func subquery(_ coder: NSCoder) -> TreeExpression? {
    guard let collection = coder.expression(forKey: "NSCollection"),
      let variable = coder.variable(forKey: "NSVariable"),
      let predicate = coder.predicate(forKey: "NSPredicate")
    else { return nil }
    return TreeExpression(forSubquery: collection, usingIteratorVariable: variable, predicate: predicate)
  }

  private static func conditional(_ coder: NSCoder) -> TreeExpression? {
    guard let predicate = coder.predicate(forKey: "NSPredicate"),
      let first = coder.expression(forKey: "NSTrueExpression"),
      let second = coder.expression(forKey: "NSFalseExpression")
    else { return nil }
    return TreeExpression(forConditional: predicate, trueExpression: first, falseExpression: second)
  }
}

/// Core Data's class of predefined functions, as the operand of an archived function.
private final class PredefinedFunctions: TreeExpression {
  init() { super.init(.success(Self.predefined), .plain) }

  required init?(coder: NSCoder) { super.init(coder: coder) }

  override func encode(with coder: NSCoder) {
    coder.encode(0, forKey: "NSExpressionType")
    coder.encode(NSString(string: "_NSPredicateUtilities"), forKey: "NSConstantValueClassName")
  }

  override var classForKeyedArchiver: AnyClass? { ArchivedConstantValue.self }
}

extension NSCoder {
  /// The name of a subquery's member, which is archived as text or as an expression.
  fileprivate func variable(forKey key: String) -> String? {
    let object = decodeObject(of: PredicateArchives.classes, forKey: key)
    if let expression = object as? TreeExpression, case .variable(let name)? = try? expression.result.get() {
      return name
    }
    return object as? String
  }

  fileprivate func expressions(forKey key: String) -> [TreeExpression]? {
    decodeObject(of: PredicateArchives.classes, forKey: key) as? [TreeExpression]
  }
}

extension ExpressionTree {
  /// Whether a constant in the tree refers to an object.
  fileprivate var hasObject: Bool {
    var result = false
    forEachExpression {
      if case .constant(let constant) = $0, constant.archivedValue == nil { result = true }
    }
    return result
  }
}

extension PredicateConstant {
  /// The value as an object that archives; nil if the constant has an object in it.
  fileprivate var archivedValue: NSObject? {
    switch self {
    case .null: return NSNull()
    case .bool(let value): return NSNumber(value: value)
    case .integer(let value): return NSNumber(value: value)
    case .double(let value): return NSNumber(value: value)
    case .decimal(let value): return ArchivedDecimal(value)
    case .string(let value): return NSString(string: value)
    case .date(let value): return NSDate(timeIntervalSinceReferenceDate: value.timeIntervalSinceReferenceDate)
    case .data(let value): return NSData(data: value)
    case .uuid(let value): return value as NSUUID
    case .url(let value): return value as NSURL
    case .object: return nil
    case .list(let members):
      let values = members.compactMap(\.archivedValue)
      return values.count == members.count ? NSArray(array: values) : nil
    }
  }
}
