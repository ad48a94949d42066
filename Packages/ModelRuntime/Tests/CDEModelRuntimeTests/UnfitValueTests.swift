import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@Suite("Values that an attribute can't hold")
struct UnfitValueTests {
  let stack: Stack
  let context: NSManagedObjectContext

  init() throws {
    stack = try Stack(model: try ValueModel.make())
    context = stack.context()
  }

  private func saved() throws -> Specimen {
    let specimen = Specimen(context: context)
    ValueModel.fill(specimen, 5)
    try context.save()
    return specimen
  }

  /// The error of a save that must fail.
  private func refusal() -> ManagedObjectError? { failure { try context.save() } }

  /// An expectation would describe the error and its value: Foundation ends the process over dates of NaN.
  private func failure(_ body: () throws -> Any?) -> ManagedObjectError? {
    do {
      _ = try body()
      Issue.record("nothing was refused")
      return nil
    } catch {
      return error as? ManagedObjectError
    }
  }

  @Test("Not a number is refused by the save, with attribute and value, and never stored as NULL", .onSQLite)
  func notANumber() throws {
    let specimen = try saved()
    let changes: [(String, (Specimen) -> Void)] = [
      ("real", { $0.real = .nan }), ("short", { $0.short = .nan }), ("realOrNil", { $0.realOrNil = .nan }),
      ("date", { $0.date = Date(timeIntervalSinceReferenceDate: .nan) }), ("price", { $0.price = .nan }),
      ("priceOrNil", { $0.priceOrNil = .nan }), ("price", { $0.price = .greatestFiniteMagnitude }),
      ("place", { $0.place = Place(latitude: .nan, longitude: 2) }),
    ]
    for (name, change) in changes {
      change(specimen)
      let error = refusal()
      // Not within the expectation, which would describe the value: Foundation ends the process over such dates.
      let isNamed = error?.code == .invalidValue && error?.property == name && error?.value != nil
      #expect(isNamed, "\(name)")
      #expect(error?.message.contains("Specimen.\(name): ") == true, "\(error?.message ?? "")")
      context.rollback()
    }
    let new = Specimen(context: context)
    ValueModel.fill(new, 1)
    new.real = .nan
    #expect(refusal()?.property == "real")
    context.delete(new)
    #expect(try stack.sql("SELECT count(*) FROM ZSPECIMEN WHERE ZREAL IS NULL OR ZPRICE IS NULL") == [["0"]])
    #expect(specimen.place == Place(latitude: 1, longitude: 2, name: "here"))
  }

  @Test("Infinity is stored and read back")
  func infinity() throws {
    let specimen = try saved()
    (specimen.real, specimen.short, specimen.realOrNil) = (.infinity, -.infinity, -.infinity)
    specimen.date = Date(timeIntervalSinceReferenceDate: .infinity)
    try context.save()
    context.refresh(specimen, mergeChanges: false)
    #expect((specimen.real, specimen.short, specimen.realOrNil ?? 0) == (.infinity, -.infinity, -.infinity))
    #expect(specimen.date.timeIntervalSinceReferenceDate == .infinity)
  }

  @Test("What key-value coding is given and does not fit leaves the value in place, and the save says so")
  func keyValueCoding() throws {
    let specimen = try saved()
    let unfit: [(String, Any)] = [
      ("small", 70_000), ("small", -40_000.0), ("small", 1.5), ("small", Double.nan), ("small", UInt64.max),
      ("medium", Int64.max), ("medium", Double.infinity), ("large", 1e19), ("large", UInt64.max),
      ("large", Decimal(string: "1e30")!), ("large", NSDecimalNumber(string: "0.5")), ("flag", 2),
      ("flag", Double.nan), ("real", Double.nan), ("real", UInt64.max), ("short", 1e300),
      ("short", 16_777_217),
      ("price", Double.nan), ("price", Double.infinity), ("price", 1e300), ("price", Decimal.nan),
      ("price", Decimal.greatestFiniteMagnitude), ("date", Date(timeIntervalSinceReferenceDate: .nan)),
      ("place", ["latitude": "north"]), ("place", ["latitude": 1.0, "lng": Double.nan]),
      ("place", ["height": 1.0]),
    ]
    for (name, value) in unfit {
      for isPrimitive in [false, true] {
        let before = specimen.value(forKey: name) as? NSObject
        if isPrimitive {
          specimen.setPrimitiveValue(value, forKey: name)
        } else {
          specimen.setValue(value, forKey: name)
        }
        let isKept = specimen.value(forKey: name) as? NSObject == before
        #expect(isKept, "\(name)")
        #expect(context.hasChanges)
        let error = refusal()
        let isNamed = error?.code == .invalidValue && error?.property == name
        #expect(isNamed, "\(name)")
        #expect(error?.message.hasPrefix("Specimen.\(name): ") == true, "\(error?.message ?? "")")
        context.rollback()
        try context.save()
      }
    }
    specimen.setValue(70_000, forKey: "small")
    let error = refusal()
    #expect(error?.value as? Int64 == 70_000 && error?.message.contains("-32768 to 32767") == true)
    // A value that fits takes the refused one's place.
    specimen.setValue(7, forKey: "small")
    try context.save()
    #expect(specimen.small == 7)
    specimen.setValue(70_000, forKey: "small")
    specimen.small = 8
    specimen.setValue(nil, forKey: "realOrNil")
    try context.save()
    #expect(specimen.small == 8 && specimen.realOrNil == nil)
  }

  @Test("A new object can refuse before and after its insertion, and several refusals are told at once")
  func newObjects() throws {
    let model = try #require(stack.container.managedObjectModel.entitiesByName["Cart"])
    let car = Cart(entity: model, insertInto: nil)
    car.setValue(Int64.max, forKey: "seats")
    context.insert(car)
    // It was set, so reading it is no mistake of the program's.
    #expect(car.seats == 0)
    #expect(refusal()?.property == "seats")
    let specimen = Specimen(context: context)
    ValueModel.fill(specimen, 1)
    specimen.setValue(70_000, forKey: "small")
    specimen.setValue(1.5, forKey: "medium")
    let error = refusal()
    #expect(error?.code == .multipleValidationErrors)
    #expect(Set(error?.failures.compactMap(\.property) ?? []) == ["seats", "small", "medium"])
    car.seats = 2
    (specimen.small, specimen.medium) = (1, 2)
    try context.save()
  }

  @Test("What fits exactly is taken in any spelling")
  func spellings() throws {
    let specimen = try saved()
    for value: Any in [5, 5.0, Float(5), UInt8(5), UInt64(5), NSNumber(5), Decimal(5), NSDecimalNumber(5)] {
      for name in ["small", "medium", "large", "real", "short", "price"] {
        specimen.setValue(0, forKey: name)
        specimen.setValue(value, forKey: name)
        #expect((specimen.value(forKey: name) as? NSNumber)?.doubleValue == 5, "\(name) \(type(of: value))")
      }
    }
    specimen.setValue(0.1, forKey: "short")
    #expect(specimen.short == 0.1)
    for value: Any in [true, 1, 1.0] {
      specimen.setValue(false, forKey: "flag")
      specimen.setValue(value, forKey: "flag")
      #expect(specimen.flag)
    }
    specimen.setValue(Int64.max, forKey: "large")
    #expect(specimen.large == .max)
    try context.save()
  }

  @Test("Batches refuse the same values as literals, in inserts and updates")
  func batches() throws {
    _ = try saved()
    let unfit: [(String, Any)] = [
      ("small", 70_000), ("small", 1.5), ("small", Double.nan), ("real", Double.nan), ("price", Decimal.nan),
      ("date", Date(timeIntervalSinceReferenceDate: .nan)), ("place", ["lng": Double.nan]), ("flag", 2),
      ("priceOrNil", Decimal.greatestFiniteMagnitude),
    ]
    for (name, value) in unfit {
      let update = NSBatchUpdateRequest(entityName: "Specimen")
      update.propertiesToUpdate = [name: value]
      let error = failure { try context.execute(update) }
      let isNamed = error?.code == .invalidValue && error?.property == name
      #expect(isNamed, "\(name)")
      let insert = NSBatchInsertRequest(entityName: "Specimen", objects: [[name: value]])
      let other = failure { try context.execute(insert) }
      let isNamedToo = other?.code == .invalidValue && other?.property == name
      #expect(isNamedToo, "\(name)")
    }
    for set: (Cart) -> Void in [{ $0.setValue(70_000, forKey: "seats") }] {
      var count = 0
      let insert = NSBatchInsertRequest(entityName: "Cart") { (object: NSManagedObject) in
        if let car = object as? Cart { set(car) }
        count += 1
        return count > 1
      }
      let error = #expect(throws: ManagedObjectError.self) { try context.execute(insert) }
      #expect(error?.property == "seats")
    }
  }

  @Test("A default value that its attribute can't hold is the model's mistake")
  func defaults() {
    for (type, value) in [
      (NSAttributeType.integer16AttributeType, 70_000 as Any), (.integer32AttributeType, 0.5),
      (.doubleAttributeType, Double.nan), (.decimalAttributeType, Decimal.nan), (.booleanAttributeType, 2),
      (.dateAttributeType, Date(timeIntervalSinceReferenceDate: .nan)),
    ] {
      #expect(throws: ManagedObjectError.self, "\(type)") {
        _ = try Stack(model: model(entity("E", nil, [attribute("a", type, default: value)])))
      }
    }
  }

  @Test("Snapshots' changes are refused where the attribute can't hold them")
  func snapshots() throws {
    let specimen = try saved()
    let old = try specimen.snapshot()
    specimen.real = .nan
    let new = try specimen.snapshot()
    context.rollback()
    try context.apply(new.changes(since: old), to: specimen)
    #expect(refusal()?.property == "real")
  }

  @Test("A value of another type is the program's mistake and ends it")
  func wrongType() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Cart(context: try Stack(model: try ValueModel.make()).context()).setValue("four", forKey: "seats")
    }
    #expect(result?.text.contains("Unacceptable value for Cart.seats") == true)
    let composite = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Specimen(context: try Stack(model: try ValueModel.make()).context()).setValue("here", forKey: "place")
    }
    #expect(composite?.text.contains("Unacceptable value for Specimen.place") == true)
  }

  // MARK: Transformables

  /// Allows texts and lists of them.
  final class TextsTransformer: NSSecureUnarchiveFromDataTransformer {
    override class var allowedTopLevelClasses: [AnyClass] { [NSString.self, NSArray.self] }
  }

  @Test("A class that the transformer does not allow fails the save and is named")
  func refusedClass() throws {
    ValueTransformer.setValueTransformer(TextsTransformer(), forName: NSValueTransformerName("Texts"))
    let texts = attribute("texts", .transformableAttributeType)
    texts.valueTransformerName = "Texts"
    let context = try Stack(model: model(entity("Page", nil, [texts]))).context()
    let page = context.make("Page", ["texts": ["a"]])
    try context.save()
    page.setValue(["a", URL(string: "a:b")!], forKey: "texts")
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect(error?.property == "texts")
    for word in ["Page.texts", "TextsTransformer", "NSURL"] { #expect(error?.message.contains(word) == true) }
    context.rollback()
    context.refresh(page, mergeChanges: false)
    #expect(page.value(forKey: "texts") as? [String] == ["a"])
    let insert = NSBatchInsertRequest(entityName: "Page", objects: [["texts": Date()]])
    #expect(throws: ManagedObjectError.self) { try context.execute(insert) }
  }
}
