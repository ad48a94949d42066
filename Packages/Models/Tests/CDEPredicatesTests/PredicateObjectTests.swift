import CDEPredicates
import Foundation
import Testing

@Suite("Predicates and expressions as objects")
struct PredicateObjectTests {
  // MARK: Taken apart and put together

  /// The same predicate, made of its parts by initialisers alone.
  private func rebuilt(_ predicate: NSPredicate) throws -> NSPredicate {
    switch predicate {
    case let comparison as TreeComparisonPredicate:
      return TreeComparisonPredicate(
        leftExpression: try rebuilt(comparison.leftExpression),
        rightExpression: try rebuilt(comparison.rightExpression),
        modifier: comparison.comparisonPredicateModifier, type: comparison.predicateOperatorType,
        options: comparison.options)
    case let compound as NSCompoundPredicate:
      return TreeCompoundPredicate(
        type: compound.compoundPredicateType,
        subpredicates: try compound.subpredicates.map { try rebuilt($0) })
    default:
      let value = try #require(["TRUEPREDICATE", "FALSEPREDICATE"].firstIndex(of: predicate.canonicalFormat))
      return NSPredicate(PredicateTree.constant(value == 0))
    }
  }

  private func rebuilt(_ expression: TreeExpression) throws -> TreeExpression {
    switch expression.expressionType {
    case .constantValue: return TreeExpression(forConstantValue: expression.constantValue)
    case .evaluatedObject: return .expressionForEvaluatedObject()
    case .variable: return TreeExpression(forVariable: expression.variable)
    case .keyPath:
      let operand = expression.operand
      if operand.expressionType == .evaluatedObject { return TreeExpression(forKeyPath: expression.keyPath) }
      return TreeExpression(
        forFunction: try rebuilt(operand), selectorName: "valueForKeyPath:", arguments: [expression.keyPath])
    case .function:
      let arguments = try #require(expression.arguments).map { try rebuilt($0) }
      return TreeExpression(
        forFunction: try rebuilt(expression.operand), selectorName: expression.function, arguments: arguments)
    case .unionSet:
      return TreeExpression(forUnionSet: try rebuilt(expression.left), with: try rebuilt(expression.right))
    case .intersectSet:
      return TreeExpression(
        forIntersectSet: try rebuilt(expression.left), with: try rebuilt(expression.right))
    case .minusSet:
      return TreeExpression(forMinusSet: try rebuilt(expression.left), with: try rebuilt(expression.right))
    case .subquery:
      return TreeExpression(
        forSubquery: try rebuilt(try #require(expression.collection as? TreeExpression)),
        usingIteratorVariable: expression.variable, predicate: try rebuilt(expression.predicate))
    case .aggregate:
      let members = try #require(expression.collection as? [TreeExpression])
      return TreeExpression(forAggregate: try members.map { try rebuilt($0) })
    case .conditional:
      return TreeExpression(
        forConditional: try rebuilt(expression.predicate), trueExpression: try rebuilt(expression.true),
        falseExpression: try rebuilt(expression.false))
    case .anyKey, .block: throw PredicateTreeTestError()
    }
  }

  private struct PredicateTreeTestError: Error {}

  @Test(
    "A format is an object of parts that print, parse and rebuild to the same",
    arguments: PredicateCorpus.formats)
  func corpus(source: String) throws {
    let predicate = NSPredicate(format: source)
    let tree = try predicate.predicateTree()
    #expect(try PredicateTree(format: predicate.canonicalFormat).predicateFormat == predicate.canonicalFormat)
    if !source.contains("YES"), !source.contains("FALSE") || source.contains("FALSEPREDICATE") {
      #expect(try PredicateTree(format: predicate.canonicalFormat) == tree)
    }
    switch tree {
    case .comparison: #expect(predicate is TreeComparisonPredicate)
    case .and, .or, .not: #expect(predicate is TreeCompoundPredicate)
    case .constant: break
    }
    let again = try rebuilt(predicate)
    #expect(again == predicate && predicate == again && again.hash == predicate.hash)
    #expect(try again.predicateTree() == tree)
    #expect(again.canonicalFormat == predicate.canonicalFormat)
    #expect((predicate.copy() as? NSPredicate) == predicate)
    #expect(again.description == predicate.description)
  }

  @Test("The corpus is large")
  func size() {
    #expect(Set(PredicateCorpus.formats).count >= 200)
  }

  @Test("Random trees survive being taken apart, rebuilt and printed")
  func random() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("predicate objects seed \(seed)")
    var generator = TreeGenerator(random: SplitMix(seed: seed))
    for _ in 0..<1_500 {
      let tree = generator.predicate(depth: 3)
      // A key named like the evaluated object is lost where a key path is one text.
      if tree.predicateFormat.contains("#SELF") { continue }
      let predicate = NSPredicate(tree)
      let again = try rebuilt(predicate)
      #expect(again.canonicalFormat == predicate.canonicalFormat, "seed \(seed)")
      #expect(again == predicate, "seed \(seed): \(tree)")
      #expect(try PredicateTree(format: again.canonicalFormat) == tree, "seed \(seed)")
    }
  }

  // MARK: Objects by hand

  @Test("Objects made by initialisers equal the parsed ones")
  func initialisers() throws {
    let comparison = TreeComparisonPredicate(
      leftExpression: TreeExpression(forKeyPath: "owner.name"),
      rightExpression: TreeExpression(forConstantValue: "Ada"), modifier: .direct, type: .beginsWith,
      options: [.caseInsensitive, .diacriticInsensitive])
    #expect(comparison == NSPredicate(format: "owner.name BEGINSWITH[cd] 'Ada'"))
    #expect(comparison.description == "owner.name BEGINSWITH[cd] \"Ada\"")
    #expect(comparison.evaluate(with: ["owner": ["name": "ÁDA L."]]))
    let any = TreeComparisonPredicate(
      leftExpression: TreeExpression(forKeyPath: "tags.@max.score"),
      rightExpression: TreeExpression(forAggregate: [1, TreeExpression(forVariable: "top")]),
      modifier: .any, type: .between)
    #expect(any == NSPredicate(format: "ANY tags.@max.score BETWEEN {1, $top}"))
    let or = TreeCompoundPredicate(orPredicateWithSubpredicates: [comparison, any])
    #expect(or == NSPredicate(format: "\(comparison) OR \(any)") && or.subpredicates == [comparison, any])
    let not = TreeCompoundPredicate(notPredicateWithSubpredicate: or)
    #expect(not == NSPredicate(format: "NOT (\(or.description))") && not.compoundPredicateType == .not)
    #expect(not.description == "NOT (\(comparison) OR \(any))")
    let parsed = try #require(NSPredicate(format: "NOT (a == 1 OR b == 2)") as? TreeCompoundPredicate)
    let inner = try #require(parsed.subpredicates.first as? TreeCompoundPredicate)
    #expect(parsed.compoundPredicateType == .not && inner.compoundPredicateType == .or)
    #expect(
      inner.subpredicates.allSatisfy { $0 is TreeComparisonPredicate } && inner.subpredicates.count == 2)
    #expect(inner.subpredicates[0] === inner.subpredicates[0])
  }

  @Test("A plain compound of Foundation has the objects as parts and prints by them")
  func foundation() throws {
    let plain = NSCompoundPredicate(orPredicateWithSubpredicates: [
      NSPredicate(format: "a == 1"),
      NSCompoundPredicate(notPredicateWithSubpredicate: NSPredicate(value: true)),
    ])
    #expect(plain.canonicalFormat == "a == 1 OR NOT TRUEPREDICATE")
    #expect(try plain.predicateTree() == PredicateTree(format: plain.canonicalFormat))
    #expect(
      NSPredicate(format: plain.canonicalFormat)
        == TreeCompoundPredicate(type: .or, subpredicates: plain.subpredicates))
    #expect(NSPredicate(value: true).canonicalFormat == "TRUEPREDICATE")
    #expect(NSPredicate(value: false).canonicalFormat == "FALSEPREDICATE")
    #expect(NSPredicate(format: "TRUEPREDICATE").description == "TRUEPREDICATE")
  }

  @Test("An expression names its kind and its parts")
  func parts() throws {
    let sum = TreeExpression(forFunction: "sum:", arguments: [TreeExpression(forKeyPath: "tags.score")])
    #expect(
      sum.expressionType == .function && sum.function == "sum:" && sum.description == "sum:(tags.score)")
    #expect(sum.arguments == [TreeExpression(forKeyPath: "tags.score")])
    #expect(try sum.expressionTree() == .aggregate(.sum, of: .keyPath(["tags", "score"])))
    #expect(
      sum == TreeExpression(format: "tags.@sum.score") && sum == TreeExpression(format: "sum(tags.score)"))
    let count = TreeExpression(format: "SUBQUERY(tags, $t, $t.a == 1).@count")
    #expect(count.expressionType == .keyPath && count.keyPath == "@count")
    #expect(count.operand.expressionType == .subquery && count.operand.variable == "t")
    #expect(count.operand.predicate == NSPredicate(format: "$t.a == 1"))
    #expect((count.operand.collection as? TreeExpression)?.keyPath == "tags")
    #expect(TreeExpression(format: "a + 1").function == "add:to:")
    #expect(TreeExpression(format: "a + 1").description == "a + 1")
    #expect(
      TreeExpression(forFunction: "bitwiseAnd:with:", arguments: [TreeExpression(forKeyPath: "a"), 4])
        .description == "a & 4")
    let list = TreeExpression(forConstantValue: [1, 2])
    #expect(list.expressionType == .constantValue && list.constantValue as? [Int] == [1, 2])
    #expect(TreeExpression(forAggregate: [1, 2]).expressionType == .aggregate)
    #expect(TreeExpression(forConstantValue: "x").description == "\"x\"")
    #expect(
      TreeExpression(forVariable: "x").description == "$x" && TreeExpression(forVariable: "x").variable == "x"
    )
    #expect(TreeExpression.expressionForEvaluatedObject().expressionType == .evaluatedObject)
    #expect(TreeExpression(forKeyPath: "tags.@count") == TreeExpression(format: "%K", "tags.@count"))
    #expect(TreeExpression(forConstantValue: nil).constantValue == nil)
    #expect(TreeExpression(forConstantValue: 5).constantValue as? Int == 5)
    #expect(TreeExpression(forConstantValue: true).constantValue as? Bool == true)
    #expect(
      (sum.copy() as? TreeExpression) == sum
        && Set([sum, TreeExpression(format: "tags.@sum.score")]).count == 1)
  }

  struct Book: PredicateKeyPathNaming {
    var title = ""
    var other: Int { 1 }
    static func predicateKey(for keyPath: AnyKeyPath) -> String? { keyPath == \Book.title ? "title" : nil }
  }

  @Test("A Swift key path is a key path by its name")
  func keyPaths() {
    #expect(TreeExpression(forKeyPath: \Book.title).keyPath == "title")
    #expect(throws: PredicateTreeError.self) { try TreeExpression(forKeyPath: \Book.other).expressionTree() }
    #expect(throws: PredicateTreeError.self) {
      try TreeExpression(forKeyPath: \String.count).expressionTree()
    }
  }

  // MARK: Values

  private final class Shop: PredicateCallable, PredicateValueProviding {
    func predicateValue(forKey key: String) throws -> PredicateValue { try PredicateValue(key) }
    func predicateValue(calling selector: String, arguments: [PredicateValue]) throws -> PredicateValue {
      guard selector == "twice:", case .constant(.integer(let value))? = arguments.first else { return .null }
      return .constant(.integer(2 * value))
    }
  }

  @Test("Expressions have values, with variables from the context")
  func evaluation() throws {
    let object: [String: Any] = ["a": 6, "name": "Ada", "tags": [1, 2, 2], "none": NSNull()]
    func value(_ format: String, _ context: NSMutableDictionary? = nil) -> Any? {
      TreeExpression(format: format).expressionValue(with: object, context: context)
    }
    #expect(value("a * 2 + 1") as? Int == 13 && value("a / 4.0") as? Double == 1.5)
    #expect(value("a & 3") as? Int == 2 && value("a | 1") as? Int == 7 && value("a ^ 5") as? Int == 3)
    #expect(value("~a") as? Int == -7 && value("a << 2") as? Int == 24 && value("a >> 1") as? Int == 3)
    #expect(
      value("1 << 64") as? Int == 0 && value("-1 >> 100") as? Int == -1 && value("8 >> -1") as? Int == 16)
    #expect(value("1.5 & 1") == nil && value("none & 1") == nil)
    #expect(value("uppercase:(name)") as? String == "ADA" && value("tags.@count") as? Int == 3)
    #expect(value("tags UNION {3}") as? [Int] == [1, 2, 3] && value("tags MINUS {2}") as? [Int] == [1])
    #expect(value("tags INTERSECT {2, 5}") as? [Int] == [2])
    #expect(value("TERNARY(a > 5, name, nil)") as? String == "Ada" && value("ln(exp(2))") as? Double == 2)
    #expect(value("$x + a", ["x": 4]) as? Int == 10 && value("$x + a") == nil)
    #expect(value("SELF") as? [String: Any] != nil)
    #expect(
      TreeExpression(forConstantValue: [1, nil] as [Int?]).constantValue as? [NSObject] == [
        NSNumber(1), NSNull(),
      ])
    let sum = TreeExpression(forFunction: "sum:", arguments: [TreeExpression(forKeyPath: "tags")])
    #expect(sum.expressionValue(with: object, context: nil) as? Int == 5)
    let call = TreeExpression(format: "FUNCTION(SELF, 'twice:', 21)")
    #expect(try call.value(for: Shop()) as? Int == 42)
    #expect(throws: PredicateTreeError.self) { try call.value(for: object) }
    #expect(NSPredicate(format: "a & 2 != 0").evaluate(with: object))
    #expect(!NSPredicate(format: "a & 1 != 0").evaluate(with: object))
  }

  @Test("Objects evaluate and substitute as the trees do")
  func agreement() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("object evaluation seed \(seed)")
    var generator = TreeGenerator(random: SplitMix(seed: seed))
    let object: [String: Any] = ["a": 1, "b_1": "x", "in": ["a": 2], "any": [1, 2], "naïve": NSNull()]
    let variables: [String: Any] = ["x": 1, "y1": ["a": "x"]]
    for _ in 0..<800 {
      let tree = generator.predicate(depth: 2)
      if tree.predicateFormat.contains("#SELF") { continue }
      let made = try rebuilt(NSPredicate(tree))
      let expected = try? tree.evaluate(
        with: try PredicateValue(object), variables: try variables.mapValues { try PredicateValue($0) })
      #expect(
        (try? made.matches(object, substitutionVariables: variables)) == expected, "seed \(seed): \(tree)")
      #expect(made.evaluate(with: object, substitutionVariables: variables) == expected ?? false)
      let substituted = made.withSubstitutionVariables(variables)
      #expect(
        (try? substituted.predicateTree()) == (try? tree.substituting(variables)), "seed \(seed): \(tree)")
    }
  }

  // MARK: Mistakes

  @Test("A mistake in a part is the predicate's error")
  func mistakes() throws {
    let broken = TreeExpression(format: "a +")
    let error = try #require(throws: PredicateTreeError.self) { try broken.expressionTree() }
    #expect(broken.expressionType == .constantValue && broken.constantValue == nil)
    #expect(
      broken.expressionValue(with: ["a": 1], context: nil) == nil && broken.description == error.description)
    let comparison = TreeComparisonPredicate(
      leftExpression: TreeExpression(forKeyPath: "a"), rightExpression: broken, modifier: .direct,
      type: .equalTo)
    #expect(throws: error) { try comparison.predicateTree() }
    #expect(comparison.rightExpression === broken && !comparison.evaluate(with: ["a": 1]))
    let unknown = TreeExpression(forFunction: "foo:", arguments: [1])
    #expect(
      unknown.expressionType == .function && unknown.function == "foo:" && unknown.arguments?.count == 1)
    #expect(unknown.description == "foo:(1)")
    #expect(throws: PredicateTreeError.self) { try unknown.expressionTree() }
    #expect(throws: PredicateTreeError.self) { try TreeExpression(forKeyPath: "a..b").expressionTree() }
    #expect(throws: PredicateTreeError.self) {
      try TreeExpression(forConstantValue: Bundle.main).expressionTree()
    }
    let block = NSPredicate { _, _ in true }
    #expect(throws: PredicateTreeError.self) {
      try TreeExpression(
        forSubquery: TreeExpression(forKeyPath: "a"), usingIteratorVariable: "x", predicate: block
      ).expressionTree()
    }
    let deep = (0..<10_000).reduce(TreeExpression(forKeyPath: "a")) { inner, _ in
      TreeExpression(forFunction: "abs:", arguments: [inner])
    }
    #expect(throws: PredicateTreeError.self) { try deep.expressionTree() }
  }

  @Test("A part that an expression lacks ends the program with a sentence")
  func missingPart() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = TreeExpression(forVariable: "x").keyPath
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("An expression of the kind variable has no keyPath"))
  }

  @Test("A compound can't be changed")
  func immutable() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      TreeCompoundPredicate(andPredicateWithSubpredicates: []).subpredicates = []
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("A compound predicate is immutable"))
  }
}
