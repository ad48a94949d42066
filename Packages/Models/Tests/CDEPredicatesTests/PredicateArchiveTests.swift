import CDEPredicates
import Foundation
import Testing

@Suite("Predicates in keyed archives")
struct PredicateArchiveTests {
  private func archive(_ object: Any) throws -> Data {
    try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
  }

  /// The archive's objects with references in place, as text of nested dictionaries.
  private func objects(_ data: Data) throws -> [[String: Any]] {
    let list = try #require(
      PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
    return (list["$objects"] as? [Any] ?? []).compactMap { $0 as? [String: Any] }
  }

  @Test("Every format comes back from an archive", arguments: PredicateCorpus.formats)
  func corpus(source: String) throws {
    let predicate = NSPredicate(format: source)
    for data in [try archive(predicate), try PredicateArchives.data(of: predicate)] {
      let read = try PredicateArchives.predicate(from: data)
      #expect(read.canonicalFormat == predicate.canonicalFormat)
      #expect(read == predicate)
    }
    let own = try #require(
      try NSKeyedUnarchiver.unarchivedObject(
        ofClasses: [TreePredicate.self, TreeCompoundPredicate.self], from: archive(predicate)) as? NSPredicate
    )
    #expect(own == predicate)
  }

  @Test("Random trees come back from an archive")
  func random() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("archive seed \(seed)")
    var generator = TreeGenerator(random: SplitMix(seed: seed))
    for _ in 0..<150 {
      let tree = generator.predicate(depth: 3)
      if tree.predicateFormat.contains("#SELF") { continue }
      let read = try PredicateArchives.predicate(from: PredicateArchives.data(of: NSPredicate(tree)))
      #expect(read.canonicalFormat == tree.predicateFormat, "seed \(seed)")
    }
  }

  @Test("An archive has Core Data's names and keys")
  func shape() throws {
    let all = try objects(
      PredicateArchives.data(of: NSPredicate(format: "a.b != 'x' OR NOT $v.n < count:(c)")))
    let classes = Set(all.compactMap { $0["$classname"] as? String })
    #expect(
      classes.isSuperset(of: [
        "NSCompoundPredicate", "NSComparisonPredicate", "NSEqualityPredicateOperator",
        "NSComparisonPredicateOperator", "NSKeyPathExpression", "NSKeyPathSpecifierExpression",
        "NSConstantValueExpression", "NSSelfExpression", "NSVariableExpression",
      ]))
    #expect(classes.filter { $0.contains("Tree") || $0.contains("Archived") } == [])
    let comparison = try #require(all.first { $0["NSLeftExpression"] != nil })
    #expect(
      Set(comparison.keys) == ["$class", "NSLeftExpression", "NSRightExpression", "NSPredicateOperator"])
    let equality = try #require(all.first { $0["NSNegate"] != nil })
    #expect(equality["NSOperatorType"] as? Int == 5 && equality["NSNegate"] as? Bool == true)
    #expect(equality["NSModifier"] as? Int == 0 && equality["NSOptions"] as? Int == 0)
    let compound = try #require(all.first { $0["NSCompoundPredicateType"] != nil })
    #expect(compound["NSCompoundPredicateType"] as? Int == 2 && compound["NSSubpredicates"] != nil)
    let path = try #require(all.first { $0["NSSelectorName"] != nil })
    #expect(path["NSExpressionType"] as? Int == 3 && path["NSOperand"] != nil && path["NSArguments"] != nil)
  }

  @Test("An expression is archived by its own form")
  func expressions() throws {
    let sum = TreeExpression(forFunction: "sum:", arguments: [TreeExpression(forKeyPath: "tags.score")])
    let data = try PredicateArchives.data(of: sum)
    #expect(try objects(data).contains { $0["NSConstantValueClassName"] != nil })
    let read = try PredicateArchives.expression(from: data)
    #expect(read == sum && read.expressionType == .function && read.function == "sum:")
    let values: [Any] = [
      1, -2.5, true, "x", Date(timeIntervalSinceReferenceDate: 1.25), Data([1, 2]), UUID(),
      URL(string: "https://a.b/c")!, Decimal(string: "12.345678901234567890")!,
      Decimal(string: "-98765432109876543210987654321098765432")!,
      Decimal(string: "-1e-100")!, Decimal.nan, [Decimal(1.5)], [1, "a"], NSNull(),
    ]
    for value in values {
      let constant = TreeExpression(forConstantValue: value)
      #expect(
        try PredicateArchives.expression(from: PredicateArchives.data(of: constant)) == constant, "\(value)")
    }
  }

  /// What Core Data's archiver writes, by hand: objects refer to each other by index.
  private func appleArchive(_ objects: [[String: Any]], classes: [String]) throws -> Data {
    // NSKeyedUnarchiver reads references as the property list's own type, which only an archiver makes. The
    // XML form of a reference is a dictionary with the key CF$UID.
    func reference(_ index: Int) -> [String: Any] { ["CF$UID": index] }
    func resolved(_ value: Any) -> Any {
      if let text = value as? String, text.hasPrefix("@"), let index = Int(text.dropFirst()) {
        return reference(index + 1)
      }
      if let list = value as? [Any] { return list.map(resolved) }
      return value
    }
    var all: [Any] = ["$null"]
    for object in objects {
      if let text = object["text"] {
        all.append(text)
        continue
      }
      var encoded = object.mapValues(resolved)
      let name = try #require(object["class"] as? String)
      encoded["class"] = nil
      encoded["$class"] = reference(1 + objects.count + (classes.firstIndex(of: name) ?? 0))
      all.append(encoded)
    }
    all += classes.map { ["$classname": $0, "$classes": [$0, "NSObject"]] as [String: Any] }
    let root: [String: Any] = [
      "$archiver": "NSKeyedArchiver", "$version": 100_000, "$top": ["root": reference(1)], "$objects": all,
    ]
    return try PropertyListSerialization.data(fromPropertyList: root, format: .xml, options: 0)
  }

  @Test("An archive in the shape that Core Data writes is read")
  func apple() throws {
    // canonical:(name) == $NEEDLE OR owner.name != "x", with the keys of compiled models.
    let data = try appleArchive(
      [
        ["class": "NSCompoundPredicate", "NSCompoundPredicateType": 2, "NSSubpredicates": "@1"],
        ["class": "NSArray", "NS.objects": ["@2", "@13"]],
        [
          "class": "NSComparisonPredicate", "NSLeftExpression": "@3", "NSRightExpression": "@10",
          "NSPredicateOperator": "@12",
        ],
        [
          "class": "NSFunctionExpression", "NSExpressionType": 4, "NSOperand": "@4", "NSSelectorName": "@5",
          "NSArguments": "@6",
        ],
        ["class": "NSConstantValueExpression", "NSExpressionType": 0, "NSConstantValueClassName": "@7"],
        ["text": "canonical:"], ["class": "NSArray", "NS.objects": ["@8"]], ["text": "_NSPredicateUtilities"],
        [
          "class": "NSKeyPathExpression", "NSExpressionType": 3, "NSOperand": "@9", "NSSelectorName": "@22",
          "NSArguments": "@23",
        ],
        ["class": "NSSelfExpression", "NSExpressionType": 1],
        ["class": "NSVariableExpression", "NSExpressionType": 2, "NSVariable": "@11"], ["text": "NEEDLE"],
        [
          "class": "NSEqualityPredicateOperator", "NSOperatorType": 4, "NSModifier": 0, "NSNegate": false,
          "NSOptions": 0,
        ],
        [
          "class": "NSComparisonPredicate", "NSLeftExpression": "@14", "NSRightExpression": "@15",
          "NSPredicateOperator": "@16",
        ],
        [
          "class": "NSKeyPathExpression", "NSExpressionType": 3, "NSOperand": "@9", "NSSelectorName": "@17",
          "NSArguments": "@18",
        ],
        ["class": "NSConstantValueExpression", "NSExpressionType": 0, "NSConstantValue": "@19"],
        [
          "class": "NSEqualityPredicateOperator", "NSOperatorType": 5, "NSModifier": 2, "NSNegate": true,
          "NSOptions": 3,
        ],
        ["text": "valueForKeyPath:"], ["class": "NSArray", "NS.objects": ["@20"]], ["text": "x"],
        ["class": "NSKeyPathSpecifierExpression", "NSExpressionType": 10, "NSKeyPath": "@21"],
        ["text": "owners.name"], ["text": "valueForKey:"], ["class": "NSArray", "NS.objects": ["@24"]],
        ["class": "NSKeyPathSpecifierExpression", "NSExpressionType": 10, "NSKeyPath": "@25"],
        ["text": "name"],
      ],
      classes: [
        "NSCompoundPredicate", "NSArray", "NSComparisonPredicate", "NSFunctionExpression",
        "NSConstantValueExpression", "NSKeyPathExpression", "NSSelfExpression", "NSVariableExpression",
        "NSEqualityPredicateOperator", "NSKeyPathSpecifierExpression",
      ])
    let predicate = try PredicateArchives.predicate(from: data)
    #expect(predicate.canonicalFormat == "canonical:(name) == $NEEDLE OR ANY owners.name !=[cd] \"x\"")
    #expect(predicate is TreeCompoundPredicate)
  }

  @Test("An archiver ends the program with a sentence for what has no place in an archive")
  func archiver() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = try NSKeyedArchiver.archivedData(
        withRootObject: NSPredicate(format: "owner == %@", Thing(1)), requiringSecureCoding: true)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("An object can't be archived in a predicate"))
  }

  @Test("What has no place in an archive is refused, and so is what is no archive")
  func refusals() throws {
    let owner = NSPredicate(format: "owner == %@", Thing(1))
    let block = TreeCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate { _, _ in true }])
    for predicate in [owner, NSPredicate(format: "a =="), block] {
      #expect(throws: PredicateTreeError.self) { try PredicateArchives.data(of: predicate) }
    }
    let object = TreeExpression(forFunction: "count:", arguments: [[Thing(1)]])
    #expect(throws: PredicateTreeError.self) { try PredicateArchives.data(of: object) }
    #expect(throws: PredicateTreeError.self) {
      try PredicateArchives.data(
        of: TreeExpression(forFunction: "foo:", arguments: [TreeExpression(format: "+")]))
    }
    let plain = NSCompoundPredicate(notPredicateWithSubpredicate: NSPredicate(format: "a == 1"))
    let read = try PredicateArchives.predicate(from: PredicateArchives.data(of: plain))
    #expect(read.canonicalFormat == "NOT a == 1")
    #expect(throws: (any Error).self) { try PredicateArchives.predicate(from: Data([1, 2, 3])) }
    #expect(throws: PredicateTreeError.self) { try PredicateArchives.predicate(from: archive(NSNumber(1))) }
    #expect(throws: PredicateTreeError.self) {
      try PredicateArchives.predicate(from: archive(NSDictionary(object: NSNumber(1), forKey: NSString("a"))))
    }
    #expect(throws: PredicateTreeError.self) {
      try PredicateArchives.expression(from: PredicateArchives.data(of: NSPredicate(format: "a == 1")))
    }
    #expect(throws: (any Error).self) {
      try PredicateArchives.predicate(
        from: appleArchive(
          [["class": "NSCompoundPredicate", "NSCompoundPredicateType": 7]], classes: ["NSCompoundPredicate"]))
    }
    #expect(throws: (any Error).self) {
      try PredicateArchives.predicate(
        from: appleArchive([["class": "NSComparisonPredicate"]], classes: ["NSComparisonPredicate"]))
    }
  }
}
