import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

/// Counts the calls of the initialiser that contexts make objects with.
@PersistentModel
final class CountedModel: NSManagedObject {
  nonisolated(unsafe) static var made = 0
  // Guard: the one test that uses the class.
  var name: String = ""

  required override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    super.init(entity: entity, insertInto: context)
    Self.made += 1
  }
}

@PersistentModel
class PlainParent: NSManagedObject {
  var name: String = ""
}

/// A class that no macro sees between a model and its objects.
final class CountedChild: PlainParent {
  nonisolated(unsafe) static var made = 0
  // Guard: the one test that uses the class.

  required override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    super.init(entity: entity, insertInto: context)
    Self.made += 1
  }
}

/// Written by hand.
private final class CountedByHand: NSManagedObject {
  nonisolated(unsafe) static var made = 0
  // Guard: the one test that uses the class.

  required override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    super.init(entity: entity, insertInto: context)
    Self.made += 1
  }
}

@Suite("Initialisers of fetched objects")
struct FetchedInitializerTests {
  private func fetched(_ stack: Stack, _ entity: String, asFaults: Bool) throws -> Int {
    let writer = stack.context()
    for index in 0..<100 { writer.make(entity, ["name": "\(index)"]) }
    try writer.save()
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.includesPropertyValues = !asFaults
    return try stack.context().fetch(request).count
  }

  @Test("An override runs for every fetched object of a model, read or not", arguments: [true, false])
  func ofModel(asFaults: Bool) throws {
    let stack = try Stack([CountedModel.self])
    let before = CountedModel.made
    #expect(try fetched(stack, "CountedModel", asFaults: asFaults) == 100)
    #expect(CountedModel.made - before >= 200)
  }

  @Test("An override in a class below a model runs for every fetched object")
  func child() throws {
    let made = entity("CountedChild", CountedChild.self, [attribute("name", .stringAttributeType)])
    #expect(try fetched(try Stack(model: model(made)), "CountedChild", asFaults: false) == 100)
    #expect(CountedChild.made == 200)
  }

  @Test("An override in a class written by hand runs for every fetched object")
  func byHand() throws {
    let made = entity("CountedByHand", CountedByHand.self, [attribute("name", .stringAttributeType)])
    #expect(try fetched(try Stack(model: model(made)), "CountedByHand", asFaults: false) == 100)
    #expect(CountedByHand.made == 200)
  }
}
