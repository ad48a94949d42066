import CDECoreData
import Testing

private final class OverriddenTransformer: ValueTransformer {
  override class func transformedValueClass() -> AnyClass { NSString.self }
  override class func allowsReverseTransformation() -> Bool { true }
  override func transformedValue(_ value: Any?) -> Any? { (value as? String)?.uppercased() }
  override func reverseTransformedValue(_ value: Any?) -> Any? { (value as? String)?.lowercased() }

  override class func setValueTransformer(
    _ transformer: ValueTransformer?, forName name: NSValueTransformerName
  ) { super.setValueTransformer(transformer, forName: name) }

  override class func valueTransformerNames() -> [NSValueTransformerName] { super.valueTransformerNames() }
}

private final class OverriddenUnarchiver: NSSecureUnarchiveFromDataTransformer {
  override class var allowedTopLevelClasses: [AnyClass] { super.allowedTopLevelClasses + [NSUUID.self] }
}

@Suite("The interface of predicates, sort orders and transformers")
struct PredicateInterfaceTests {
  @Test("A predicate is made of a format with its arguments")
  func predicates() {
    let listed: (String, any CVarArg) -> NSPredicate = { NSPredicate(format: $0, $1) }
    let array: (String, [Any]?) -> NSPredicate = NSPredicate.init(format:argumentArray:)
    let pointer: (String, CVaListPointer) -> NSPredicate = NSPredicate.init(format:arguments:)
    let predicate = listed("title == %@", "A")
    #expect(predicate == array("title == %@", ["A"]))
    #expect(predicate == withVaList(["A" as NSString]) { pointer("title == %@", $0) })
    let comparison = NSComparisonPredicate(
      leftExpression: NSExpression(forKeyPath: "title"), rightExpression: NSExpression(forConstantValue: "A"),
      modifier: .direct, type: .equalTo, options: [])
    #expect(comparison.leftExpression.keyPath == "title" && comparison.predicateOperatorType == .equalTo)
    let both = NSCompoundPredicate(andPredicateWithSubpredicates: [predicate, comparison])
    #expect(both.compoundPredicateType == .and && both.subpredicates.count == 2)
  }

  @Test("A sort order is made of a key")
  func sortOrders() {
    let _: (String?, Bool) -> NSSortDescriptor = NSSortDescriptor.init(key:ascending:)
    let _: (String?, Bool, Selector?) -> NSSortDescriptor = NSSortDescriptor.init(key:ascending:selector:)
    let _: (String?, Bool, @escaping Comparator) -> NSSortDescriptor =
      NSSortDescriptor.init(key:ascending:comparator:)
    let _: KeyPath<NSSortDescriptor, String?> = \NSSortDescriptor.key
    let order = NSSortDescriptor(key: "title", ascending: false)
    #expect(order.key == "title" && !order.ascending)
  }

  @Test("Transformers are registered, found, and asked for what they override")
  func transformers() throws {
    let _: (ValueTransformer?, NSValueTransformerName) -> Void =
      ValueTransformer.setValueTransformer(_:forName:)
    let _: () -> [NSValueTransformerName] = ValueTransformer.valueTransformerNames
    let _: () -> AnyClass = ValueTransformer.transformedValueClass
    let _: () -> Bool = ValueTransformer.allowsReverseTransformation
    let _: (ValueTransformer) -> (Any?) -> Any? = ValueTransformer.transformedValue(_:)
    let _: (ValueTransformer) -> (Any?) -> Any? = ValueTransformer.reverseTransformedValue(_:)
    let found: (NSValueTransformerName) -> ValueTransformer? = ValueTransformer.init(forName:)
    let _: [AnyClass] = NSSecureUnarchiveFromDataTransformer.allowedTopLevelClasses
    let name: NSValueTransformerName = NSValueTransformerName("InterfaceTransformer")
    OverriddenTransformer.setValueTransformer(OverriddenTransformer(), forName: name)
    #expect(OverriddenTransformer.valueTransformerNames().contains(name))
    let transformer = try #require(found(name))
    #expect(transformer.transformedValue("a") as? String == "A")
    #expect(transformer.reverseTransformedValue("A") as? String == "a")
    #expect(type(of: transformer).transformedValueClass() == NSString.self)
    #expect(type(of: transformer).allowsReverseTransformation())
    let allowed = OverriddenUnarchiver.allowedTopLevelClasses
    #expect(allowed.contains { $0 == NSUUID.self } && allowed.contains { $0 == NSArray.self })
  }
}
