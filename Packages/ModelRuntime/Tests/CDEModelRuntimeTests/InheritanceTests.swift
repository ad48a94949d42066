import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

private class Vehicle: NSManagedObject {}
private final class Car: Vehicle {}
private final class Truck: Vehicle {}

@Suite("Inheritance of entities")
struct InheritanceTests {
  private func stack() throws -> Stack {
    let vehicle = entity("Vehicle", Vehicle.self, [attribute("name", .stringAttributeType)])
    vehicle.isAbstract = true
    // Names that sort before and after the inherited ones, so that slots differ from the parent's.
    let car = entity(
      "Car", Car.self, [attribute("aseats", .integer16AttributeType), attribute("zip", .stringAttributeType)])
    let truck = entity("Truck", Truck.self, [attribute("load", .doubleAttributeType)])
    vehicle.subentities = [car, truck]
    let garage = entity("Garage", nil, [attribute("name", .stringAttributeType)])
    connect(.one(vehicle, "garage"), .many(garage, "vehicles"))
    connect(.one(vehicle, "place"), .many(garage, "row", ordered: true))
    connect(.many(vehicle, "keepers"), .many(garage, "kept"))
    connect(.one(car, "show"), .one(garage, "star"))
    return try Stack(model: model(vehicle, car, truck, garage))
  }

  private func fill(_ context: NSManagedObjectContext) throws -> NSManagedObject {
    let garage = context.make("Garage", ["name": "g"])
    for index in 0..<4 {
      let vehicle = context.make(
        index % 2 == 0 ? "Car" : "Truck", ["name": "\(index)", "garage": garage, "place": garage])
      vehicle.mutableSetValue(forKey: "keepers").add(garage)
      if index == 0 { garage.setValue(vehicle, forKey: "star") }
    }
    try context.save()
    return garage
  }

  @Test("Fetches find sub-entities unless told otherwise, as their own classes")
  func fetching() throws {
    let stack = try stack()
    _ = try fill(stack.context())
    let context = stack.context()
    let all = try context.all("Vehicle", sort: "name")
    #expect(all.map { "\(type(of: $0))" } == ["Car", "Truck", "Car", "Truck"])
    #expect(try context.all("Car").count == 2)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Vehicle")
    request.includesSubentities = false
    #expect(try context.fetch(request).isEmpty)
    #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Truck")) == 2)
    #expect(try context.all("Vehicle", NSPredicate(format: "garage.name == %@", "g")).count == 4)
    // Unsaved ones too.
    context.make("Car", ["name": "9"]).setValue(2, forKey: "aseats")
    #expect(try context.all("Vehicle", sort: "name").count == 5)
    #expect(try context.fetch(request).isEmpty)
  }

  @Test(
    "Unsaved objects of sub-entities are found by inherited properties, and by objects that are unsaved as well"
  )
  func unsaved() throws {
    let context = try stack().context()
    let stored = try fill(context)
    let garage = context.make("Garage", ["name": "new"])
    let car = context.make("Car", ["name": "7", "garage": garage, "aseats": 4])
    let truck = context.make("Truck", ["name": "8", "garage": garage, "place": stored])
    car.mutableSetValue(forKey: "keepers").addObjects(from: [garage, stored])
    garage.setValue(car, forKey: "star")

    func names(_ format: String, _ arguments: Any...) throws -> [String?] {
      try context.all("Vehicle", NSPredicate(format: format, argumentArray: arguments), sort: "name")
        .map { $0.value(forKey: "name") as? String }
    }
    #expect(try names("garage == %@", garage) == ["7", "8"])
    #expect(try names("garage == %@ OR name == '1'", garage) == ["1", "7", "8"])
    #expect(try names("SELF IN %@", [car, truck]) == ["7", "8"])
    #expect(try names("ANY keepers == %@", garage) == ["7"])
    #expect(try names("keepers.@count == 2") == ["7"])
    #expect(try names("place == nil AND garage.name BEGINSWITH[c] 'N'") == ["7"])
    #expect(try names("SUBQUERY(keepers, $k, $k.star.name == '7').@count == 1") == ["7"])
    #expect(try names("garage.vehicles.@max.name == '8'") == ["7", "8"])
    #expect(try context.all("Car", NSPredicate(format: "aseats > 3")).map(\.objectID) == [car.objectID])
    #expect(
      try context.all("Garage", NSPredicate(format: "star == %@", car)).map(\.objectID) == [garage.objectID])
    // Another object's temporary ID names no row.
    let other = try stack().context().make("Garage", ["name": "other"])
    #expect(try names("garage == %@", other.objectID).isEmpty)
  }

  @Test("Relationships to sub-entities work from both sides, over contexts and merges")
  func relationships() throws {
    let stack = try stack()
    let writer = stack.context()
    let written = try fill(writer)
    let context = stack.context()
    let garage = try #require(try context.all("Garage").first)
    #expect(garage.set("vehicles").count == 4)
    #expect(garage.list("row").map { $0.value(forKey: "name") as? String } == ["0", "1", "2", "3"])
    #expect(garage.set("kept").count == 4)
    #expect(garage.one("star") is Car)
    // A to-one reference knows the entity of its row.
    let car = try #require(garage.one("star"))
    car.setValue(nil, forKey: "garage")
    garage.mutableOrderedSetValue(forKey: "row").insert(car, at: 3)
    garage.mutableSetValue(forKey: "kept").remove(car)
    let listener = Listener(context) { _ in }
    try context.save()
    withExtendedLifetime(listener) {}
    let did = try #require(listener.events.last)
    let star = try #require(written.one("star"))
    #expect(star.one("garage") === written)
    writer.mergeChanges(
      fromContextDidSave: Notification(name: did.name, object: context, userInfo: did.info))
    #expect(star.one("garage") == nil)
    #expect(written.set("vehicles").count == 3)
    #expect(written.set("kept").count == 3)
    #expect(written.list("row").map { $0.value(forKey: "name") as? String } == ["1", "2", "3", "0"])
    writer.delete(star)
    #expect(written.one("star") == nil)
    try writer.save()
    context.mergeChanges(
      fromContextDidSave: Notification(
        name: did.name, object: writer,
        userInfo: [
          NSDeletedObjectIDsKey: [star.objectID] as Set
        ]))
    #expect(garage.list("row").count == 3)
  }

  @Test("An ID that names an ancestor finds the row's own class")
  func ancestorID() throws {
    let stack = try stack()
    _ = try fill(stack.context())
    let context = stack.context()
    let truck = try #require(try stack.context().all("Truck").first?.objectID)
    let uri = truck.uriRepresentation()
    let text = uri.absoluteString.replacingOccurrences(of: "/Truck/", with: "/Vehicle/")
    let coordinator = stack.container.persistentStoreCoordinator
    let url = try #require(URL(string: text))
    let id = try #require(coordinator.managedObjectID(forURIRepresentation: url))
    #expect(context.object(with: id) is Truck)
    #expect(try context.existingObject(with: id) is Truck)
  }

  @Test("Abstract entities have no objects")
  func abstract() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = try InheritanceTests().stack().context().make("Vehicle")
    }
    #expect(
      result?.text.contains("Vehicle is abstract. Insert an object of one of its sub-entities.") == true)
  }
}
