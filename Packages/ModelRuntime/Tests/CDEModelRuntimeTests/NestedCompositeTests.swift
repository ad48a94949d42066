import CDEManagedModel
import CDEModelRuntime
import CDEPredicates
import Foundation
import Testing

@Suite("Composites within composites")
struct NestedCompositeTests {
  /// The name `label` is used on three levels.
  private func stack() throws -> Stack {
    func composite(_ name: String, _ elements: NSAttributeDescription...) -> NSCompositeAttributeDescription {
      let result = NSCompositeAttributeDescription()
      result.name = name
      result.elements = elements
      return result
    }
    let place = composite(
      "place", attribute("label", .stringAttributeType),
      composite(
        "inner", attribute("label", .stringAttributeType),
        composite("deep", attribute("label", .integer32AttributeType))),
      attribute("latitude", .doubleAttributeType))
    place.isOptional = true
    return try Stack(model: model(entity("Spot", nil, [place, attribute("name", .stringAttributeType)])))
  }

  private static var value: [String: Any] {
    [
      "label": "outer", "latitude": 1.5, "inner": ["label": "inner", "deep": ["label": 7]] as [String: Any],
    ]
  }

  @Test("Elements of one name on several levels keep their own values", .onSQLite)
  func levels() throws {
    let stack = try stack()
    let context = stack.context()
    context.make("Spot", ["name": "a", "place": Self.value])
    context.make("Spot", ["name": "b", "place": ["inner": ["deep": ["label": 8]]]])
    context.make("Spot", ["name": "c"])
    try context.save()
    #expect(
      try stack.sql(
        "SELECT ZLABEL, quote(ZLABEL1), quote(ZLABEL2) FROM ZSPOT WHERE ZLABEL > 0 ORDER BY ZNAME")
        == [["7", "'outer'", "'inner'"], ["8", "NULL", "NULL"]])
    let other = stack.context()
    let spots = try other.all("Spot", sort: "name")
    #expect(spots[0].value(forKey: "place") as? NSDictionary == Self.value as NSDictionary)
    #expect(spots[1].value(forKeyPath: "place.inner.deep.label") as? Int == 8)
    #expect(spots[1].value(forKeyPath: "place.label") == nil)
    #expect(spots[2].value(forKey: "place") == nil)
  }

  @Test("Their paths mean the same in the store, in memory and in dictionaries")
  func paths() throws {
    let stack = try stack()
    let context = stack.context()
    context.make("Spot", ["name": "a", "place": Self.value])
    try context.save()
    let unsaved = context.make("Spot", ["name": "b", "place": ["inner": ["label": "inner"]]])
    let predicate = NSPredicate(format: "place.inner.label == 'inner'")
    let request = NSFetchRequest<NSManagedObject>(entityName: "Spot")
    request.predicate = predicate
    #expect(try context.fetch(request).count == 2)
    #expect(predicate.evaluate(with: unsaved))
    context.rollback()
    let values = NSFetchRequest<NSDictionary>(entityName: "Spot")
    values.resultType = .dictionaryResultType
    values.propertiesToFetch = ["place"]
    #expect(try context.fetch(values).first?["place"] as? NSDictionary == Self.value as NSDictionary)
  }

  @Test("An element is set by its path, in a composite that has no value as well")
  func settingByPath() throws {
    let stack = try stack()
    let context = stack.context()
    let filled = context.make("Spot", ["name": "a", "place": Self.value])
    let empty = context.make("Spot", ["name": "b"])
    try context.save()
    filled.setValue(nil, forKeyPath: "place.label")
    filled.setValue(9, forKeyPath: "place.inner.deep.label")
    empty.setValue(2.5, forKeyPath: "place.latitude")
    empty.setValue("new", forKeyPath: "place.inner.label")
    #expect(filled.changedValues().keys.sorted() == ["place"])
    try context.save()
    let spots = try stack.context().all("Spot", sort: "name")
    let first: [String: Any] = [
      "latitude": 1.5, "inner": ["label": "inner", "deep": ["label": 9]] as [String: Any],
    ]
    let second: [String: Any] = ["latitude": 2.5, "inner": ["label": "new"]]
    #expect(spots[0].value(forKey: "place") as? NSDictionary == first as NSDictionary)
    #expect(spots[1].value(forKey: "place") as? NSDictionary == second as NSDictionary)
  }

  @Test("A value that does not fit is refused with the path of its element")
  func refusals() throws {
    let stack = try stack()
    let context = stack.context()
    context.make("Spot", ["place": ["inner": ["deep": ["label": 1 << 40]]]])
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect(error?.message.contains("inner: deep: label: ") == true)
    context.rollback()
    context.make("Spot", ["place": ["inner": ["lable": "x"]]])
    let other = #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect(other?.message.contains("has no element lable") == true)
  }
}
