import CDESwiftData
import Testing

enum NotesSchemaV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Note.self] }

  @Model
  final class Note {
    var title: String
    var body: String = ""
    init(title: String) { self.title = title }
  }
}

enum NotesSchemaV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Note.self, Notebook.self] }

  @Model
  final class Note {
    @Attribute(originalName: "title") var name: String
    var body: String = ""
    var isPinned: Bool = false
    var notebook: Notebook?
    init(name: String) { self.name = name }
  }

  @Model
  final class Notebook {
    var name: String
    @Relationship(inverse: \Note.notebook) var notes: [Note] = []
    init(name: String) { self.name = name }
  }
}

typealias CurrentNote = NotesSchemaV2.Note

enum NotesMigrationPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [NotesSchemaV1.self, NotesSchemaV2.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: NotesSchemaV1.self, toVersion: NotesSchemaV2.self)]
  }
}

@Suite("Notes in two versions")
struct VersionsProgram {
  @Test("A store of the first version is opened by the second")
  func lightweight() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "notes-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appending(path: "Notes.store")
    do {
      let schema = Schema(versionedSchema: NotesSchemaV1.self)
      let container = try ModelContainer(
        for: schema, configurations: [ModelConfiguration(schema: schema, url: url)])
      let context = ModelContext(container)
      for number in 0..<10 { context.insert(NotesSchemaV1.Note(title: "Note \(number)")) }
      try context.save()
    }
    let schema = Schema(versionedSchema: NotesSchemaV2.self)
    let container = try ModelContainer(
      for: schema, migrationPlan: NotesMigrationPlan.self,
      configurations: [ModelConfiguration(schema: schema, url: url)])
    let context = ModelContext(container)
    let notes = try context.fetch(FetchDescriptor<CurrentNote>(sortBy: [SortDescriptor(\.name)]))
    #expect(notes.map(\.name) == (0..<10).map { "Note \($0)" })
    #expect(notes.allSatisfy { !$0.isPinned && $0.notebook == nil })
    let notebook = NotesSchemaV2.Notebook(name: "All")
    notebook.notes = notes
    context.insert(notebook)
    try context.save()
    #expect(
      try context.fetchCount(
        FetchDescriptor<CurrentNote>(predicate: #Predicate { $0.notebook?.name == "All" })) == 10)
  }
}
