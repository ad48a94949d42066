import CDEManagedModel
import CDEModelRuntime
import CDEPredicates
import Foundation
import Testing

@testable import CDESwiftData

@Suite("Identifiers")
struct PersistentIdentifierTests {
  private static let schema = Schema(
    Schema.Entity("Note", properties: Schema.Attribute(name: "text", valueType: String?.self)),
    Schema.Entity("Tag", properties: Schema.Attribute(name: "text", valueType: String?.self)))

  /// The identifiers of two saved notes and a saved tag.
  private func saved(_ stack: Stack) throws -> [PersistentIdentifier] {
    let context = stack.context()
    return try context.performAndWait {
      let objects = ["Note", "Note", "Tag"].map {
        NSEntityDescription.insertNewObject(forEntityName: $0, into: context)
      }
      try context.save()
      return objects.map { PersistentIdentifier($0.objectID) }
    }
  }

  @Test("An identifier has the entity's name and the store's identifier", .onSQLite)
  func parts() throws {
    let stack = try Stack(Self.schema)
    let ids = try saved(stack)
    #expect(ids.map(\.entityName) == ["Note", "Note", "Tag"])
    let store = try stack.file.rows("SELECT Z_UUID FROM Z_METADATA")[0][0]
    #expect(ids.allSatisfy { $0.storeIdentifier == store && !$0.isTemporary })
    #expect(Set(ids).count == 3)
    #expect(ids[0].id == ids[0].id && ids[0].id != ids[1].id)
    #expect(ids[0] < ids[1] && ids[1] < ids[2] && !(ids[1] < ids[0]))
    #expect(ids.shuffled().sorted() == ids)
  }

  @Test("An encoded identifier has the parts of Apple's, and is equal when it is decoded")
  func coding() throws {
    let ids = try saved(try Stack(Self.schema))
    let data = try JSONEncoder().encode(ids[1])
    let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: [String: Any]])
    let parts = try #require(json["implementation"])
    #expect(parts["primaryKey"] as? String == "p2")
    #expect(parts["entityName"] as? String == "Note")
    #expect(parts["isTemporary"] as? Bool == false)
    #expect(parts["storeIdentifier"] as? String == ids[1].storeIdentifier)
    #expect(
      parts["uriRepresentation"] as? String == "x-coredata://\(try #require(ids[1].storeIdentifier))/Note/p2")
    let decoded = try JSONDecoder().decode(PersistentIdentifier.self, from: data)
    #expect(decoded == ids[1] && decoded.hashValue == ids[1].hashValue)
    #expect(decoded != ids[0] && decoded != ids[2])
    #expect(decoded.objectID == nil && decoded.uri == ids[1].objectID?.uriRepresentation())
    #expect(Set(ids).contains(decoded))
    #expect(!(decoded < ids[1]) && ids[0] < decoded && decoded < ids[2])
    let again = try JSONDecoder().decode(PersistentIdentifier.self, from: JSONEncoder().encode(decoded))
    #expect(again == decoded)
  }

  @Test("A decoded identifier leads to its object")
  func resolving() throws {
    let stack = try Stack(Self.schema)
    let ids = try saved(stack)
    let decoded = try JSONDecoder().decode([PersistentIdentifier].self, from: JSONEncoder().encode(ids))
    for (id, original) in zip(decoded, ids) {
      let uri = try #require(id.uri)
      let found = stack.container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: uri)
      #expect(found == original.objectID)
    }
  }

  @Test("An identifier can be made of its parts")
  func making() throws {
    let ids = try saved(try Stack(Self.schema))
    let store = try #require(ids[0].storeIdentifier)
    #expect(try PersistentIdentifier.identifier(for: store, entityName: "Note", primaryKey: 1) == ids[0])
    #expect(try PersistentIdentifier.identifier(for: store, entityName: "Tag", primaryKey: "p1") == ids[2])
    let error = #expect(throws: SwiftDataError.self) {
      try PersistentIdentifier.identifier(for: store, entityName: "Note", primaryKey: "")
    }
    #expect(error?.code == .unreadable)
    #expect(throws: SwiftDataError.self) {
      try PersistentIdentifier.identifier(for: "", entityName: "Note", primaryKey: 1)
    }
  }

  @Test("An identifier of a custom store has any key, and is equal when it is decoded")
  func customKeys() throws {
    let key = UUID()
    let id = try PersistentIdentifier.identifier(for: "trips.json", entityName: "Trip", primaryKey: key)
    #expect(id.storeIdentifier == "trips.json" && id.entityName == "Trip" && !id.isTemporary)
    let data = try JSONEncoder().encode(id)
    #expect(try JSONDecoder().decode(PersistentIdentifier.self, from: data) == id)
    #expect(try PersistentIdentifier.identifier(for: "trips.json", entityName: "Trip", primaryKey: key) == id)
    for other in ["0", "a b/c?é", "p-x"] {
      let id = try PersistentIdentifier.identifier(for: "a b", entityName: "Trip", primaryKey: other)
      let decoded = try JSONDecoder().decode(PersistentIdentifier.self, from: JSONEncoder().encode(id))
      #expect(decoded == id && id.uri != nil)
    }
  }

  @Test("Temporary identifiers are different from each other and from saved ones")
  func temporary() throws {
    let context = try Stack(Self.schema).context()
    try context.performAndWait {
      let objects = (0..<3).map { _ in
        NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
      }
      let ids = objects.map { PersistentIdentifier($0.objectID) }
      #expect(Set(ids).count == 3)
      #expect(ids.allSatisfy { $0.isTemporary && $0.storeIdentifier == nil })
      let decoded = try JSONDecoder().decode(PersistentIdentifier.self, from: JSONEncoder().encode(ids[0]))
      #expect(decoded.isTemporary && decoded.entityName == "Note")
      try context.save()
      #expect(PersistentIdentifier(objects[0].objectID) != ids[0])
    }
  }

  @Test("Text that is no identifier is refused", arguments: ["p0", "p-1", ""])
  func refused(key: String) {
    let text =
      #"{"implementation":{"primaryKey":"\#(key)","isTemporary":false,"storeIdentifier":"A","entityName":"Note"}}"#
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(PersistentIdentifier.self, from: Data(text.utf8))
    }
  }

  @Test("A decoded identifier finds its model in conditions, and finds none in another store")
  func conditions() throws {
    let context = ModelContext(try .inMemory(Mixtape.self, MixSong.self, MixLabel.self))
    let album = Mixtape("a")
    context.insert(album)
    context.insert(Mixtape("b"))
    album.songs = [MixSong("x")]
    try context.save()
    func decoded(_ model: some PersistentModel) throws -> PersistentIdentifier {
      try JSONDecoder().decode(
        PersistentIdentifier.self, from: JSONEncoder().encode(model.persistentModelID))
    }
    let (id, songID) = (try decoded(album), try decoded(try #require(album.songs?.first)))
    let ids: Set = [id]
    let other = ModelContext(try .inMemory(Mixtape.self, MixSong.self, MixLabel.self))
    other.insert(Mixtape("theirs"))
    try other.save()
    for (context, titles) in [(context, ["a"]), (ModelContext(context.container), ["a"]), (other, [])] {
      func found(_ predicate: Predicate<Mixtape>) throws -> [String] {
        try context.fetch(FetchDescriptor(predicate: predicate)).map(\.title)
      }
      #expect(try found(#Predicate { $0.persistentModelID == id }) == titles)
      #expect(try found(#Predicate { ids.contains($0.persistentModelID) }) == titles)
      #expect(
        try found(#Predicate { $0.songs?.contains { $0.persistentModelID == songID } == true }) == titles)
      let songs = FetchDescriptor<MixSong>(predicate: #Predicate { $0.album?.persistentModelID == id })
      #expect(try context.fetch(songs).map(\.name) == (titles.isEmpty ? [] : ["x"]))
    }
    // Of an entity that the other schema does not have.
    let shelf = ModelContext(try .inMemory(TaskList.self, TaskItem.self, TaskTag.self))
    shelf.insert(TaskList(name: "l"))
    try shelf.save()
    #expect(
      try shelf.fetch(FetchDescriptor<TaskList>(predicate: #Predicate { $0.persistentModelID == id })).isEmpty
    )
    try context.delete(model: Mixtape.self, where: #Predicate { $0.persistentModelID == id })
    try context.save()
    #expect(try ModelContext(context.container).fetch(FetchDescriptor<Mixtape>()).map(\.title) == ["b"])
  }
}
