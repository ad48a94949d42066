import CDEManagedModel
import CDEModelRuntime
import Foundation
import Observation
import Synchronization
import Testing

/// Models with the names of types that generated code uses.
private enum Gym {
  @PersistentModel(generateInit: true, observation: .mainActor)
  final class Workout: NSManagedObject {
    var title: Swift.String
    @Relationship(inverse: "workout", deleteRule: .cascade) var sets: Swift.Set<Set>
  }

  @PersistentModel(observation: .mainActor)
  final class Set: NSManagedObject {
    var count: Swift.Int?
    @Relationship(inverse: "sets", deleteRule: .nullify) var workout: Workout?
    @Relationship(inverse: "set", deleteRule: .nullify) var list: [Gym.Int]
  }

  @PersistentModel(observation: .mainActor)
  class Int: NSManagedObject {
    @Attribute(storageMethod: .raw) var kind: Kind = .plain
    @Attribute(storageMethod: .composition) var bool: Gym.Bool?
    @Relationship(inverse: "list", deleteRule: .nullify) var set: Set?
  }

  @PersistentModel
  final class String: Int {
    var text: Swift.String?
  }

  @PersistentModel
  final class KeyPath: NSManagedObject {}

  @Composition
  struct Bool {
    var value: Swift.Bool
  }

  enum Kind: Swift.String { case plain, other }
}

/// An operator in the body, which the macro's declaration must not seem to make.
@Composition
private struct Distance: Comparable {
  var metres: Double

  static func < (one: Distance, other: Distance) -> Bool { one.metres < other.metres }
}

/// Compiles without a warning.
@PersistentModel(generateInit: true, observation: .mainActor)
private final class Dated: NSManagedObject {
  @available(*, deprecated, renamed: "title") var name: String
  @available(*, deprecated) @Attribute(storageMethod: .composition) var distance: Distance?
  @available(*, deprecated) @Relationship(inverse: "dated", deleteRule: .nullify) var parts: Set<DatedPart>
  var title: String?
}

@PersistentModel
private class DatedPart: NSManagedObject {
  @available(*, deprecated) var name: String?
  @Relationship(inverse: "parts", deleteRule: .nullify) var dated: Dated?
}

@PersistentModel
private final class DatedChild: DatedPart {
  @available(*, deprecated) var size: Int?
}

@Suite("Names in generated code")
struct HiddenNameTests {
  @Test("Models may have the names of types of the standard library")
  func standardNames() throws {
    let stack = try Stack([Gym.Workout.self, Gym.Set.self, Gym.Int.self, Gym.String.self, Gym.KeyPath.self])
    let context = stack.context()
    let workout = Gym.Workout(context: context)
    workout.title = "legs"
    let set = Gym.Set(context: context)
    set.count = 8
    workout.addToSets([set])
    let text = Gym.String(context: context)
    text.text = "x"
    text.kind = .other
    text.bool = Gym.Bool(value: true)
    set.insertIntoList(text, at: 0)
    try context.save()

    let reader = stack.context()
    let read = try #require(try reader.fetch(Gym.Workout.fetchRequest()).first)
    #expect(read.sets.map(\.count) == [8] && read.setsCount == 1)
    let stored = try #require(read.sets.first?.list.first as? Gym.String)
    #expect(stored.text == "x" && stored.kind == .other && stored.bool?.value == true)
    #expect(Gym.Workout.predicateKey(for: \Gym.Workout.setsCount) == "sets.@count")
    withExtendedLifetime(reader) {}
  }

  @Test("A composition may declare an operator in its body")
  func operators() {
    #expect(Distance(metres: 1) < Distance(metres: 2))
  }

  @Test("Deprecated properties have keys, values and readers, from a class and from one that inherits")
  func deprecated() async throws {
    func keys<Uses: DeprecatedUses>(_ uses: Uses.Type) -> [String?] { uses.keys() }
    #expect(
      keys(DatedUses.self) == [
        "name", "distance.metres", "parts", "parts.@count", "title", "name", "name", "size", "dated",
      ])
    func set<Uses: DeprecatedUses>(_ uses: Uses.Type) throws -> [String] { try uses.values() }
    #expect(try set(DatedUses.self) == ["a", "2.0", "b", "part", "3"])
    @MainActor func wakes<Uses: DeprecatedUses>(_ uses: Uses.Type) -> Int { uses.wakes() }
    #expect(await wakes(DatedUses.self) == 1)
  }
}

/// The witnesses of a protocol may be deprecated without a warning at their calls.
private protocol DeprecatedUses {
  static func keys() -> [String?]
  static func values() throws -> [String]
  @MainActor static func wakes() -> Int
}

private enum DatedUses: DeprecatedUses {
  @available(*, deprecated)
  static func keys() -> [String?] {
    [
      Dated.predicateKey(for: \Dated.name), Dated.predicateKey(for: \Dated.distance?.metres),
      Dated.predicateKey(for: \Dated.parts), Dated.predicateKey(for: \Dated.partsCount),
      Dated.predicateKey(for: \Dated.title), DatedPart.predicateKey(for: \DatedPart.name),
      DatedChild.predicateKey(for: \DatedChild.name), DatedChild.predicateKey(for: \DatedChild.size),
      DatedChild.predicateKey(for: \DatedChild.dated),
    ]
  }

  @available(*, deprecated)
  static func values() throws -> [String] {
    let stack = try Stack([Dated.self, DatedPart.self, DatedChild.self])
    let context = stack.context()
    let dated = Dated(name: "a", distance: Distance(metres: 2), title: "b")
    context.insert(dated)
    let child = DatedChild(context: context)
    child.name = "part"
    child.size = 3
    dated.addToParts(child)
    try context.save()
    let reader = stack.context()
    return try withExtendedLifetime(reader) {
      let read = try reader.fetch(Dated.fetchRequest())
      let part = read.first?.parts.first as? DatedChild
      return read.flatMap { [$0.name, "\($0.distance?.metres ?? 0)", $0.title ?? ""] }
        + [part?.name ?? "", "\(part?.size ?? 0)"]
    }
  }

  @available(*, deprecated) @MainActor
  static func wakes() -> Int {
    guard let stack = try? Stack([Dated.self, DatedPart.self, DatedChild.self]) else { return 0 }
    let dated = Dated(context: stack.container.viewContext)
    dated.name = "a"
    let count = Mutex(0)
    withObservationTracking {
      // The getter records reads only where something observes the context, which a test of this layer does not have.
      dated._cdOwnTrackingRegistrar()?.access(dated, keyPath: \.name)
    } onChange: {
      count.withLock { $0 += 1 }
    }
    dated.__cdObservationInvalidateAllObservableKeyPaths()
    return count.withLock { $0 }
  }
}
