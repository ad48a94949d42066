import CDESwiftData
import Foundation
import Observation
import Synchronization
import Testing

@Suite("The interface of models")
struct ModelInterfaceTests {
  @Test("A model class has the protocols and members of SwiftData's")
  func model() {
    func check<Model: PersistentModel>(_ type: Model.Type) {
      let _: (any BackingData<Model>) -> Model = Model.init(backingData:)
      let _: ReferenceWritableKeyPath<Model, any BackingData<Model>> = \Model.persistentBackingData
      let _: [Schema.PropertyMetadata] = Model.schemaMetadata
      let _: any PersistentModel.Type = Model.Root.self
      let _: KeyPath<Model, ModelContext?> = \Model.modelContext
      let _: KeyPath<Model, PersistentIdentifier> = \Model.persistentModelID
      let _: KeyPath<Model, Bool> = \Model.hasChanges
      let _: KeyPath<Model, Bool> = \Model.isDeleted
      let _: (Model, Model) -> Bool = (==)
      let _: (Model) -> (inout Hasher) -> Void = Model.hash(into:)
      isHashable(Model.self)
      let _: any (AnyObject & Observable & SendableMetatype & Identifiable).Type = Model.self
    }
    check(Journey.self)
    isIdentifiable(Journey.self, by: PersistentIdentifier.self)
    let _: KeyPath<Journey, PersistentIdentifier> = \Journey.id
  }

  @Test("Values are read and set by key path, whatever the property")
  func values() {
    let _: (Journey) -> (KeyPath<Journey, String>) -> String = Journey.getValue(forKey:)
    let _: (Journey) -> (KeyPath<Journey, Traveller?>) -> Traveller? = Journey.getValue(forKey:)
    let _: (Journey) -> (KeyPath<Journey, [Halt]>) -> [Halt] = Journey.getValue(forKey:)
    let _: (Journey) -> (KeyPath<Journey, [Traveller]?>) -> [Traveller]? = Journey.getValue(forKey:)
    let _: (Journey) -> (KeyPath<Journey, String>, String) -> Void = Journey.setValue(forKey:to:)
    let _: (Journey) -> (KeyPath<Journey, Traveller?>, Traveller?) -> Void = Journey.setValue(forKey:to:)
    let _: (Journey) -> (KeyPath<Journey, [Halt]>, [Halt]) -> Void = Journey.setValue(forKey:to:)
    let _: (Journey) -> (KeyPath<Journey, [Traveller]?>, [Traveller]?) -> Void = Journey.setValue(forKey:to:)
    let _: (Journey) -> (KeyPath<Journey, Int>) -> Int = Journey.getTransformableValue(forKey:)
    let _: (Journey) -> (KeyPath<Journey, Int>, Int) -> Void = Journey.setTransformableValue(forKey:to:)

    let trip = Journey(name: "a")
    let (stop, companion) = (Halt(number: 1), Traveller(name: "c"))
    trip.setValue(forKey: \.name, to: "b")
    trip.setValue(forKey: \.stops, to: [stop])
    trip.setValue(forKey: \.companions, to: [companion])
    trip.setValue(forKey: \.lead, to: companion)
    trip.setValue(forKey: \.address, to: Journey.Address(city: "Bonn", zip: 53111))
    #expect(trip.name == "b" && trip.getValue(forKey: \.name) == "b")
    #expect(stop.trip === trip && trip.getValue(forKey: \.stops) == [stop])
    #expect(companion.trips == [trip] && trip.getValue(forKey: \.companions) == [companion])
    #expect(companion.ledTrips == [trip] && trip.getValue(forKey: \.lead) === companion)
    #expect(trip.getValue(forKey: \.address) == Journey.Address(city: "Bonn", zip: 53111))
    trip.setValue(forKey: \.lead, to: nil)
    trip.setValue(forKey: \.companions, to: nil)
    #expect(trip.lead == nil && companion.ledTrips.isEmpty && companion.trips.isEmpty)
  }

  /// Reads any collection of models, as code over all models does.
  private func read<Model: PersistentModel, Models: RelationshipCollection>(
    _ model: Model, _ path: KeyPath<Model, Models>
  ) -> Models { model.getValue(forKey: path) }

  private func element<Models: RelationshipCollection>(
    of type: Models.Type
  ) -> any PersistentModel.Type { Models.PersistentElement.self }

  @Test("Arrays of models and optional ones are collections of a relationship")
  func collections() {
    let _: any RelationshipCollection.Type = [Halt].self
    let _: any RelationshipCollection.Type = [Halt]?.self
    let _: Halt.Type = Array<Halt>.PersistentElement.self
    let _: Halt.Type = Optional<[Halt]>.PersistentElement.self
    #expect(element(of: [Halt].self) == Halt.self && element(of: [Traveller]?.self) == Traveller.self)
    let trip = Journey(name: "a")
    trip.stops = [Halt(number: 1), Halt(number: 2)]
    #expect(read(trip, \.stops).map(\.number) == [1, 2])
    #expect(read(trip, \.companions)?.isEmpty == true)
  }

  @Test("Backing data has the values of its instance, and makes an instance")
  func backing() throws {
    func check<Backing: BackingData>(_ type: Backing.Type) {
      let _: (Backing.Model.Type) -> Backing = Backing.init(for:)
      let _: KeyPath<Backing, PersistentIdentifier> = \Backing.persistentModelID
      let _: KeyPath<Backing, [Schema.PropertyMetadata]> = \Backing.metadata
    }
    check(DefaultBackingData<Journey>.self)
    func checkValues<Backing: BackingData<Journey> & SendableMetatype>(_ type: Backing.Type) {
      let _: (Backing) -> (KeyPath<Journey, Int>) -> Int = Backing.getValue(forKey:)
      let _: (Backing) -> (KeyPath<Journey, Traveller?>) -> Traveller? = Backing.getValue(forKey:)
      let _: (Backing) -> (KeyPath<Journey, [Halt]>) -> [Halt] = Backing.getValue(forKey:)
      let _: (Backing) -> (KeyPath<Journey, Int>, Int) -> Void = Backing.setValue(forKey:to:)
      let _: (Backing) -> (KeyPath<Journey, Traveller?>, Traveller?) -> Void = Backing.setValue(forKey:to:)
      let _: (Backing) -> (KeyPath<Journey, [Halt]>, [Halt]) -> Void = Backing.setValue(forKey:to:)
      let _: (Backing) -> (KeyPath<Journey, Int>) -> Int = Backing.getTransformableValue(forKey:)
      let _: (Backing) -> (KeyPath<Journey, Int>, Int) -> Void = Backing.setTransformableValue(forKey:to:)
    }
    checkValues(DefaultBackingData<Journey>.self)
    let made: some BackingData<Journey> = Journey.createBackingData()
    let data: any BackingData<Journey> = made
    let id: PersistentIdentifier? = data.persistentModelID
    #expect(id?.entityName == "Journey")
    let metadata: Any = data.metadata
    #expect((metadata as? [Schema.PropertyMetadata])?.first?.name == "name")

    let (stop, companion) = (Halt(number: 1), Traveller(name: "c"))
    data.setValue(forKey: \.name, to: "a")
    data.setValue(forKey: \.start, to: Date(timeIntervalSinceReferenceDate: 0))
    data.setValue(forKey: \.end, to: Date(timeIntervalSinceReferenceDate: 1))
    data.setValue(forKey: \.rating, to: 4)
    data.setValue(forKey: \.address, to: Journey.Address(city: "Bonn", zip: 1))
    let trip = Journey(backingData: data)
    data.setValue(forKey: \.stops, to: [stop])
    data.setValue(forKey: \.companions, to: [companion])
    data.setValue(forKey: \.lead, to: companion)
    data.setTransformableValue(forKey: \.note, to: "n")
    #expect(trip.name == "a" && trip.rating == 4 && trip.note == "n" && trip.address?.city == "Bonn")
    #expect(trip.stops == [stop] && stop.trip === trip && trip.lead === companion)
    #expect(data.getValue(forKey: \.name) == "a" && data.getValue(forKey: \.rating) == 4)
    #expect(data.getValue(forKey: \.stops) == [stop] && data.getValue(forKey: \.companions) == [companion])
    #expect(data.getValue(forKey: \.lead) === companion)
    #expect(data.getTransformableValue(forKey: \.note) == "n")

    let container = try ModelContainer.inMemory(Journey.self)
    let context = ModelContext(container)
    context.insert(trip)
    try context.save()
    #expect(trip.persistentBackingData.persistentModelID == trip.persistentModelID)
    #expect(try ModelContext(container).fetch(FetchDescriptor<Journey>()).first?.address?.zip == 1)
  }

  @Test("Code of a class uses the names of SwiftData's expansion")
  func expansion() {
    let person = ExpandedModel(first: "Ada", last: "L")
    let woken = Mutex(0)
    withObservationTracking {
      _ = person.fullName
    } onChange: {
      woken.withLock { $0 += 1 }
    }
    person.fullName = "Bob M"
    #expect(woken.withLock { $0 } == 1 && person.first == "Bob" && person.last == "M")
    #expect(person.firstByKey == "Bob")
  }
}

/// With a property that tells readers of itself.
@Model
final class ExpandedModel {
  var first: String
  var last: String

  init(first: String, last: String) {
    self.first = first
    self.last = last
  }

  var fullName: String {
    get {
      _$observationRegistrar.access(self, keyPath: \.fullName)
      return "\(_$backingData.getValue(forKey: \.first)) \(last)"
    }
    set {
      _$observationRegistrar.withMutation(of: self, keyPath: \.fullName) {
        let names = newValue.split(separator: " ").map(String.init)
        _$backingData.setValue(forKey: \.first, to: names[0])
        last = names[1]
      }
    }
  }

  var firstByKey: String { persistentBackingData.getValue(forKey: \.first) }
}
