import Foundation
import Testing

@testable import CDESwiftData

@Model
final class Mixtape {
  var title: String
  // Apps whose models go to iCloud declare all relationships as optional.
  @Relationship(deleteRule: .cascade, inverse: \MixSong.album) var songs: [MixSong]? = []
  var label: MixLabel?
  init(_ title: String) { self.title = title }
}

@Model
final class MixSong {
  var name: String
  var album: Mixtape?
  init(_ name: String) { self.name = name }
}

@Model
final class MixLabel {
  var name: String
  @Relationship(inverse: \Mixtape.label) var albums: [Mixtape]?
  init(_ name: String) { self.name = name }
}

@Suite("Conditions on optional to-many relationships")
struct OptionalMembersTests {
  /// Albums with no songs, without a value, and with songs; one of them at a label.
  private func context() throws -> ModelContext {
    let context = ModelContext(try .inMemory(Mixtape.self, MixSong.self, MixLabel.self))
    let albums = ["empty", "nil", "one", "two"].map { Mixtape($0) }
    for album in albums { context.insert(album) }
    albums[1].songs = nil
    albums[2].songs = [MixSong("x")]
    albums[3].songs = [MixSong("x"), MixSong("y")]
    albums[3].label = MixLabel("big")
    try context.save()
    return context
  }

  private static let conditions: [(String, Predicate<Mixtape>)] = [
    ("isEmpty == true", #Predicate { $0.songs?.isEmpty == true }),
    ("isEmpty == false", #Predicate { $0.songs?.isEmpty == false }),
    ("isEmpty ?? true", #Predicate { $0.songs?.isEmpty ?? true }),
    ("isEmpty ?? false", #Predicate { $0.songs?.isEmpty ?? false }),
    ("isEmpty != true", #Predicate { $0.songs?.isEmpty != true }),
    ("== nil", #Predicate { $0.songs == nil }),
    ("!= nil", #Predicate { $0.songs != nil }),
    ("nil ==", #Predicate { nil == $0.songs }),
    ("count == 0", #Predicate { $0.songs?.count == 0 }),
    ("count ?? 0 == 0", #Predicate { ($0.songs?.count ?? 0) == 0 }),
    ("count ?? 5 > 1", #Predicate { ($0.songs?.count ?? 5) > 1 }),
    ("! isEmpty", #Predicate { $0.songs!.isEmpty }),
    ("contains == true", #Predicate { $0.songs?.contains { $0.name == "y" } == true }),
    ("contains == false", #Predicate { $0.songs?.contains { $0.name == "y" } == false }),
    ("contains ?? false", #Predicate { $0.songs?.contains { $0.name == "x" } ?? false }),
    ("contains ?? true", #Predicate { $0.songs?.contains { $0.name == "y" } ?? true }),
    ("all == true", #Predicate { $0.songs?.allSatisfy { $0.name == "x" } == true }),
    ("all ?? false", #Predicate { $0.songs?.allSatisfy { $0.name == "x" } ?? false }),
    ("not contains", #Predicate { !($0.songs?.contains { $0.name == "y" } ?? false) }),
    ("filter count", #Predicate { $0.songs?.filter { $0.name == "x" }.count == 0 }),
    ("if let", #Predicate { album in if let songs = album.songs { songs.isEmpty } else { false } }),
    ("flatMap", #Predicate { $0.songs.flatMap { $0.count } == 0 }),
    ("through a relationship", #Predicate { $0.label?.albums?.isEmpty == false }),
    ("through a relationship, ?? true", #Predicate { $0.label?.albums?.isEmpty ?? true }),
    ("through a relationship, == nil", #Predicate { $0.label?.albums == nil }),
    ("through a relationship, != nil", #Predicate { $0.label?.albums != nil }),
    (
      "through a relationship, contains",
      #Predicate { $0.label?.albums?.contains { $0.title == "two" } == true }
    ),
    ("through a relationship, count", #Predicate { ($0.label?.albums?.count ?? 9) == 9 }),
    (
      "members of members",
      #Predicate { $0.label?.albums?.contains { $0.songs?.contains { $0.name == "y" } ?? false } ?? false }
    ),
  ]

  @Test("A fetch finds what the condition says of the models, saved or not", arguments: conditions.indices)
  func agreement(index: Int) throws {
    let (name, predicate) = Self.conditions[index]
    let saved = try context()
    let all = FetchDescriptor<Mixtape>(sortBy: [SortDescriptor(\.title)])
    func check(_ context: ModelContext, _ state: String) throws {
      let found = try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.title)]))
      let expected = try context.fetch(all).filter { try predicate.evaluate($0) }
      #expect(found.map(\.title) == expected.map(\.title), "\(name), \(state)")
      #expect(
        try context.fetchCount(FetchDescriptor(predicate: predicate)) == expected.count, "\(name), \(state)")
    }
    try check(saved, "in the context that saved")
    try check(ModelContext(saved.container), "in another context")
    let pending = Mixtape("pending")
    saved.insert(pending)
    let unsaved = Mixtape("unsaved song")
    saved.insert(unsaved)
    unsaved.songs = [MixSong("y")]
    try check(saved, "with unsaved models")
  }

  @Test("Members that were set to nil are read as none")
  func values() throws {
    let context = try context()
    let all = FetchDescriptor<Mixtape>(sortBy: [SortDescriptor(\.title)])
    #expect(try ModelContext(context.container).fetch(all).map { $0.songs?.count } == [0, 0, 1, 2])
    #expect(try context.fetch(all).map { $0.songs?.count } == [0, 0, 1, 2])
  }
}
