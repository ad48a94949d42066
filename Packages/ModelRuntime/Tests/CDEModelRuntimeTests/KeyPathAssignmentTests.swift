import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@PersistentModel
private final class Meter: NSManagedObject {
  var name: String
  var stars: Int
  @Attribute(storageMethod: .raw) var priority: Priority
  @Relationship(inverse: "meters", deleteRule: .nullify) var station: Station?
}

@PersistentModel
private final class Station: NSManagedObject {
  var title: String
  @Relationship(inverse: "station", deleteRule: .nullify) var meters: Set<Meter>
}

/// A class that is no model: its attributes go by key.
private final class ByKey: NSManagedObject {
  @Attribute var title: String
}

// Not inlined: the compiler calls accessors directly where it knows the path.
@inline(never)
private func assign<Root: AnyObject, Value>(
  _ value: Value, to path: ReferenceWritableKeyPath<Root, Value>, of object: Root
) {
  object[keyPath: path] = value
}

@inline(never)
private func write<Root, Value>(_ path: WritableKeyPath<Root, Value>, _ value: Value, in root: inout Root) {
  root[keyPath: path] = value
}

@inline(never)
private func append<Root: AnyObject>(
  _ text: String, to path: ReferenceWritableKeyPath<Root, String>, of object: Root
) {
  object[keyPath: path] += text
}

/// Swift's assignment through a key path calls the getter before the setter.
@Suite("Required properties of new objects, through key paths")
struct KeyPathAssignmentTests {
  private func context() throws -> NSManagedObjectContext {
    try Stack([Meter.self, Station.self]).context()
  }

  @Test("A property without a value is assigned, of each kind of storage")
  func assigned() throws {
    let meter = Meter(context: try context())
    assign("a", to: \.name, of: meter)
    assign(7, to: \.stars, of: meter)
    assign(.high, to: \.priority, of: meter)
    #expect(meter.name == "a" && meter.stars == 7 && meter.priority == .high)
    var other = Meter(context: try context())
    write(\.name, "b", in: &other)
    #expect(other.name == "b")
    let entity = entity("ByKey", ByKey.self, [attribute("title", .stringAttributeType)])
    let byKey = ByKey(context: try Stack(model: model(entity)).context())
    assign("t", to: \.title, of: byKey)
    #expect(byKey.title == "t")
  }

  @Test("So is one at the end of a longer path, and one that has a value")
  func longerPaths() throws {
    final class Holder { var meter: Meter; init(_ meter: Meter) { self.meter = meter } }
    let holder = Holder(Meter(context: try context()))
    let path: ReferenceWritableKeyPath<Holder, Meter> = \.meter
    assign("a", to: path.appending(path: \Meter.name), of: holder)
    assign("b", to: path.appending(path: \Meter.name), of: holder)
    #expect(holder.meter.name == "b")
    append("c", to: \.name, of: holder.meter)
    #expect(holder.meter.name == "bc")
  }

  @Test("A property that was not assigned still has no value when the object is saved")
  func unset() throws {
    let context = try context()
    let meter = Meter(context: context)
    assign("a", to: \.name, of: meter)
    assign(1, to: \.stars, of: meter)
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect(error?.message.contains("Meter.priority is required and has no value") == true)
  }

  @Test(
    "To change a missing value in place, or to read it on the way to another assignment, ends the program")
  func misuse() async {
    let inPlace = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      append("x", to: \.name, of: Meter(context: try Stack([Meter.self, Station.self]).context()))
    }
    #expect(inPlace?.text.contains("Meter.name is required and has no value. Set it before reading") == true)
    let argument = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try Stack([Meter.self, Station.self]).context()
      assign(Meter(context: context).name, to: \.name, of: Meter(context: context))
    }
    #expect(argument?.text.contains("Meter.name is required and has no value. Set it before reading") == true)
  }
}
