import CDESwiftData
import Foundation
import Testing

enum NotesV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Note.self] }

  @Model
  final class Note {
    var text: String
    var stars: Int = 0
    init(text: String) { self.text = text }
  }
}

enum NotesV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Note.self] }

  @Model
  final class Note {
    @Attribute(originalName: "text") var body: String
    var stars: Int = 0
    var isPinned: Bool = false
    init(body: String) { self.body = body }
  }
}

enum NotesPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [NotesV1.self, NotesV2.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: NotesV1.self, toVersion: NotesV2.self,
        willMigrate: { context in
          for note in try context.fetch(FetchDescriptor<NotesV1.Note>()) { note.text += "!" }
          try context.save()
        },
        didMigrate: { context in
          for note in try context.fetch(FetchDescriptor<NotesV2.Note>()) { note.isPinned = note.stars > 2 }
          try context.save()
        })
    ]
  }
}

enum BackwardPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [NotesV1.self, NotesV2.self] }
  static var stages: [MigrationStage] { [.lightweight(fromVersion: NotesV2.self, toVersion: NotesV1.self)] }
}

@Suite("Versions of a store")
struct VersionedStoreTests {
  private func makeOldStore() throws -> URL {
    let url = try TemporaryStore().url
    let context = ModelContext(
      try ModelContainer(
        for: Schema(versionedSchema: NotesV1.self), configurations: ModelConfiguration(url: url)))
    let note = NotesV1.Note(text: "Buy milk")
    note.stars = 3
    context.insert(note)
    try context.save()
    return url
  }

  @Test("A store of an older version opens, with renamed and new properties")
  func lightweight() throws {
    let url = try makeOldStore()
    let container = try ModelContainer(
      for: Schema(versionedSchema: NotesV2.self), configurations: ModelConfiguration(url: url))
    let notes = try ModelContext(container).fetch(FetchDescriptor<NotesV2.Note>())
    #expect(notes.map(\.body) == ["Buy milk"] && notes.map(\.isPinned) == [false])
  }

  @Test("Code of a plan runs before and after the migration with models of its version")
  func custom() throws {
    let url = try makeOldStore()
    let container = try ModelContainer(
      for: Schema(versionedSchema: NotesV2.self), migrationPlan: NotesPlan.self,
      configurations: ModelConfiguration(url: url))
    let notes = try ModelContext(container).fetch(FetchDescriptor<NotesV2.Note>())
    #expect(notes.map(\.body) == ["Buy milk!"] && notes.map(\.isPinned) == [true])
  }

  @Test("A plan that leads backwards is refused")
  func backward() throws {
    let url = try makeOldStore()
    #expect(throws: SwiftDataError.backwardMigration) {
      try ModelContainer(
        for: Schema(versionedSchema: NotesV1.self), migrationPlan: BackwardPlan.self,
        configurations: ModelConfiguration(url: url))
    }
  }

  @Test("Several configurations divide the models among stores", .onSQLite)
  func severalStores() throws {
    let (first, second) = (try TemporaryStore().url, try TemporaryStore().url)
    func open() throws -> ModelContainer {
      try ModelContainer(
        for: Schema([NotesV2.Note.self, TaskTag.self]),
        configurations: [
          ModelConfiguration("notes", schema: Schema([NotesV2.Note.self]), url: first),
          ModelConfiguration("tags", schema: Schema([TaskTag.self]), url: second),
        ])
    }
    let context = ModelContext(try open())
    context.insert(NotesV2.Note(body: "Buy milk"))
    context.insert(TaskTag("food"))
    try context.save()
    let other = ModelContext(try open())
    #expect(try other.fetch(FetchDescriptor<NotesV2.Note>()).map(\.body) == ["Buy milk"])
    #expect(try other.fetch(FetchDescriptor<TaskTag>()).map(\.name) == ["food"])
    let alone = try ModelContainer(for: NotesV2.Note.self, configurations: ModelConfiguration(url: first))
    #expect(try ModelContext(alone).fetchCount(FetchDescriptor<NotesV2.Note>()) == 1)
  }

  @Test("The same store twice is refused")
  func duplicate() throws {
    let url = try TemporaryStore().url
    #expect(throws: SwiftDataError.duplicateConfiguration) {
      try ModelContainer(
        for: Schema([TaskTag.self]),
        configurations: [ModelConfiguration("a", url: url), ModelConfiguration("b", url: url)])
    }
  }
}
