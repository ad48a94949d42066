import CDEManagedModel
import CDEModelRuntime
import CDEPredicates
import Foundation
import Testing

@PersistentModel
private final class Product: NSManagedObject {
  @Attribute(.range(0...255)) var age: Int16 = 0
  @Attribute(.range((-1.5)...)) var weight: Double?
  @Attribute(.range(...1_000)) var price: Decimal?
  @Attribute(.unique, .length(1...8), .matching("[a-z]+")) var code: String?
  @Attribute(.length(...4)) var short: String = ""
}

/// A transformer that makes nothing of odd words.
private final class Fussy: ValueTransformer, CDRegisteredValueTransformer {
  static let transformerName = NSValueTransformerName("Fussy")
  override func transformedValue(_ value: Any?) -> Any? {
    (value as? String).flatMap { $0 == "odd" ? nil : Data($0.utf8) }
  }
  override func reverseTransformedValue(_ value: Any?) -> Any? {
    (value as? Data).map { String(decoding: $0, as: UTF8.self) }
  }
}

@PersistentModel
private final class Parcel: NSManagedObject {
  @Attribute(storageMethod: .transformed(Fussy.self)) var content: String?
}

@Suite("Rules for values")
struct ValidationRuleTests {
  @Test("The model carries rules as Core Data does: predicates on SELF with error codes")
  func modelRules() throws {
    let model = try NSManagedObjectModel.makeRuntimeModel(Product.self)
    let attributes = try #require(model.entities.first).attributesByName
    func formats(_ name: String) throws -> [String] {
      try (attributes[name]?.validationPredicates ?? []).map { try $0.predicateTree().predicateFormat }
    }
    #expect(try formats("age") == ["SELF >= 0", "SELF <= 255"])
    #expect(try formats("weight") == ["SELF >= -1.5"])
    #expect(try formats("price") == ["SELF <= 1000"])
    #expect(try formats("code") == ["length >= 1", "length <= 8", "SELF MATCHES \"[a-z]+\""])
    #expect(attributes["code"]?.validationWarnings as? [NSNumber] == [1670, 1660, 1680])
    let copy = try #require(model.copy() as? NSManagedObjectModel)
    #expect(copy.entities[0].attributesByName["age"]?.validationPredicates.count == 2)
    #expect(copy.entities[0].versionHash == model.entities[0].versionHash)
  }

  @Test("Values on the bounds and nil are saved")
  func bounds() throws {
    let context = try Stack([Product.self]).context()
    for (age, weight, price, code) in [
      (Int16(0), -1.5, Decimal(1000), "a"), (255, 1e300, -5, "abcdefgh"),
    ] {
      let product = Product(context: context)
      (product.age, product.weight, product.price, product.code) = (age, weight, price, code)
    }
    _ = Product(context: context)
    try context.save()
  }

  @Test("All failures of a save come at once and name entity, object, property, rule and value")
  func failures() throws {
    let context = try Stack([Product.self]).context()
    let first = Product(context: context)
    (first.age, first.weight, first.price) = (256, -1.6, Decimal(string: "1000.01"))
    let second = Product(context: context)
    (second.age, second.code, second.short) = (-1, "ABCDEFGHI", "12345")
    let error = try #require(#expect(throws: ManagedObjectError.self) { try context.save() })
    #expect(error.code == .multipleValidationErrors && error.failures.count == 7)
    let found = Dictionary(
      uniqueKeysWithValues: error.failures.map { ("\($0.property ?? "") \($0.code.rawValue)", $0) })
    for (key, rule, object) in [
      ("age numberTooLarge", "SELF <= 255", first), ("weight numberTooSmall", "SELF >= -1.5", first),
      ("price numberTooLarge", "SELF <= 1000", first), ("age numberTooSmall", "SELF >= 0", second),
      ("code stringTooLong", "length <= 8", second),
      ("code stringPatternMatching", "SELF MATCHES \"[a-z]+\"", second),
      ("short stringTooLong", "length <= 4", second),
    ] {
      let failure = try #require(found[key], "\(key)")
      #expect(failure.rule == rule && failure.entity == "Product" && failure.objectID == object.objectID)
      #expect(
        failure.message.contains(rule)
          && failure.message.contains(object.objectID.uriRepresentation().absoluteString))
    }
    #expect(found["age numberTooLarge"]?.value as? Int64 == 256)
    #expect(found["age numberTooLarge"]?.message.contains("Product.age is 256") == true)
    #expect(found["code stringTooLong"]?.value as? String == "ABCDEFGHI")
    let bridged = error as NSError
    #expect(bridged.code == NSValidationMultipleErrorsError)
    let details = try #require(bridged.userInfo[NSDetailedErrorsKey] as? [NSError])
    #expect(
      Set(details.map(\.code)) == [1610, 1620, 1660, 1680]
        && details.allSatisfy { $0.userInfo[NSValidationPredicateErrorKey] is NSPredicate })
    #expect(first.age == 256 && context.hasChanges)
    (first.age, first.weight, first.price) = (1, nil, nil)
    (second.age, second.code, second.short) = (1, nil, "")
    try context.save()
  }

  @Test("Only what changed is asked, and a single failure comes by itself")
  func changedOnly() throws {
    let context = try Stack([Product.self]).context()
    let product = Product(context: context)
    try context.save()
    product.code = ""
    let error = try #require(#expect(throws: ManagedObjectError.self) { try context.save() })
    #expect(error.code == .multipleValidationErrors)
    #expect(Set(error.failures.map(\.code)) == [.stringTooShort, .stringPatternMatching])
    product.code = "Q"
    let single = try #require(#expect(throws: ManagedObjectError.self) { try context.save() })
    #expect(single.code == .stringPatternMatching && (single as NSError).code == 1680)
  }

  @Test("Predicates set by hand count too, with their words")
  func byHand() throws {
    let size = attribute("size", .integer32AttributeType)
    size.setValidationPredicates(
      [NSPredicate(format: "SELF > 3 AND SELF < 5"), NSPredicate(format: "SELF != 9")],
      withValidationWarnings: ["Four, please."])
    let day = attribute("day", .dateAttributeType)
    day.setValidationPredicates(
      [NSPredicate(format: "SELF >= %@", Date(timeIntervalSinceReferenceDate: 10) as NSDate)],
      withValidationWarnings: ["1640"])
    let context = try Stack(model: model(entity("Box", nil, [size, day]))).context()
    let box = context.make("Box", ["size": 9, "day": Date(timeIntervalSinceReferenceDate: 9)])
    let error = try #require(#expect(throws: ManagedObjectError.self) { try context.save() })
    #expect(error.failures.map(\.code) == [.dateTooSoon, .invalidValue, .invalidValue])
    #expect(error.failures[1].message.contains("Four, please."))
    box.setValue(4, forKey: "size")
    box.setValue(Date(timeIntervalSinceReferenceDate: 10), forKey: "day")
    try context.save()
  }

  @Test("A value that its transformer can't encode is an error of the save, not a lost value")
  func encoding() throws {
    let stack = try Stack([Parcel.self])
    let context = stack.context()
    let parcel = Parcel(context: context)
    parcel.content = "odd"
    ValueTransformer.setValueTransformer(nil, forName: Fussy.transformerName)
    let unknown = try #require(#expect(throws: ManagedObjectError.self) { try context.save() })
    #expect((unknown.cause as? ModelError)?.code == .unknownTransformer && unknown.property == "content")
    ValueTransformer.setValueTransformer(Fussy(), forName: Fussy.transformerName)
    let failed = try #require(#expect(throws: ManagedObjectError.self) { try context.save() })
    #expect((failed.cause as? ModelError)?.code == .transformFailed && failed.objectID == parcel.objectID)
    #expect(parcel.content == "odd")
    parcel.content = "even"
    try context.save()
    parcel.content = "odd"
    let refused = try #require(#expect(throws: ManagedObjectError.self) { try parcel.snapshot() })
    #expect((refused.cause as? ModelError)?.code == .transformFailed && refused.property == "content")
    context.reset()
    #expect(try context.fetch(Parcel.fetchRequest()).map(\.content) == ["even"])
  }
}
