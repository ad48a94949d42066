import CDEDatabases
import CDEExecutors
import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import Foundation

@PersistentModel
final class Item: NSManagedObject {
  var title: String = ""
  var owner: Int = 0
  var rank: Int = 0

  @Relationship(inverse: "items", deleteRule: .nullify)
  var tags: Set<Tag>
}

@PersistentModel
final class Tag: NSManagedObject {
  @Attribute(.unique)
  var name: String = ""
  var note: String?

  @Relationship(inverse: "tags", deleteRule: .nullify)
  var items: Set<Item>
}

@PersistentModel
final class Heap: NSManagedObject {
  @Relationship(inverse: "heap", deleteRule: .nullify)
  var pebbles: Set<Pebble>
}

@PersistentModel
final class Pebble: NSManagedObject {
  var name: String = ""

  @Relationship(inverse: "pebbles", deleteRule: .nullify)
  var heap: Heap?
}

enum Library {
  static let model = try! NSManagedObjectModel.makeRuntimeModel(Item.self, Tag.self, Heap.self, Pebble.self)

  /// A container over a store of its own.
  static func container(inMemory: Bool = true) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Library", managedObjectModel: model)
    let description = NSPersistentStoreDescription()
    if inMemory {
      description.type = NSInMemoryStoreType
    } else {
      description.url = ProcessFolder.newURL("databases").appendingPathExtension("sqlite")
      description.setValue("OFF", forPragmaNamed: "synchronous")
    }
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }
}

/// Whether the caller runs on the main actor's executor; threads say nothing about it.
var isOnMainActor: Bool { ContextExecutor.main().isCurrent }

struct Refusal: Error {}

/// A generator whose numbers are the same for the same seed.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
