import CDESwiftData
import Testing

@Model
final class Gadget {
  var name: String
  var size: Int
  init(name: String, size: Int) {
    self.name = name
    self.size = size
  }

  var isLarge: Bool { size > 10 }
}

@Model
final class Unrelated {
  var name: String
  init(name: String) { self.name = name }
}

@Suite("Mistakes that are told")
struct MistakesProgram {
  @Test("A computed property in a condition is an error")
  func computed() throws {
    let context = ModelContext(
      try ModelContainer(for: Gadget.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    context.insert(Gadget(name: "A", size: 20))
    try context.save()
    #expect(throws: SwiftDataError.self) {
      try context.fetch(FetchDescriptor<Gadget>(predicate: #Predicate { $0.isLarge }))
    }
    #expect(throws: SwiftDataError.self) {
      try context.fetch(FetchDescriptor<Gadget>(sortBy: [SortDescriptor(\.isLarge.description)]))
    }
  }

  @Test("A file that is no store is an error, and stays as it is", .onSQLite)
  func notAStore() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "no-store-\(UUID().uuidString)")
    try Data("This is a text, and no database of any kind.".utf8).write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    do {
      _ = try ModelContainer(for: Gadget.self, configurations: ModelConfiguration(url: url))
      Issue.record("The file was opened.")
    } catch SwiftDataError.loadIssueModelContainer {
    }
    #expect(try String(contentsOf: url, encoding: .utf8).hasPrefix("This is a text"))
  }

  @Test("A class that the container does not know is an error")
  func unknown() throws {
    let context = ModelContext(
      try ModelContainer(for: Gadget.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    #expect(throws: (any Error).self) { try context.fetch(FetchDescriptor<Unrelated>()) }
  }

  @Test("A read-only store refuses a save")
  func readOnly() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "gadgets-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appending(path: "Gadgets.store")
    do {
      let context = ModelContext(
        try ModelContainer(for: Gadget.self, configurations: ModelConfiguration(url: url)))
      context.insert(Gadget(name: "A", size: 1))
      try context.save()
    }
    let container = try ModelContainer(
      for: Gadget.self, configurations: ModelConfiguration(url: url, allowsSave: false))
    let context = ModelContext(container)
    #expect(try context.fetch(FetchDescriptor<Gadget>()).map(\.name) == ["A"])
    context.insert(Gadget(name: "B", size: 2))
    #expect(throws: (any Error).self) { try context.save() }
  }
}
