import CDESwiftData
import Synchronization
import Testing

@Model
final class JournalEntry {
  var text: String
  var mood: Int?
  init(_ text: String, mood: Int? = nil) {
    self.text = text
    self.mood = mood
  }
}

@MainActor
@Suite("A journal, in two contexts")
struct JournalProgram {
  let container: ModelContainer

  init() throws {
    container = try ModelContainer(
      for: JournalEntry.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }

  @Test("A save is announced with the identifiers of what changed")
  func notifications() throws {
    let context = ModelContext(container)
    let kept = JournalEntry("kept")
    let gone = JournalEntry("gone")
    context.insert(kept)
    context.insert(gone)
    try context.save()
    let seen = Mutex<[String: [PersistentIdentifier]]>([:])
    let token = NotificationCenter.default.addObserver(
      forName: ModelContext.didSave, object: context, queue: nil
    ) { notification in
      seen.withLock { seen in
        for key in [
          ModelContext.NotificationKey.insertedIdentifiers, .updatedIdentifiers, .deletedIdentifiers,
        ] {
          seen[key.rawValue] = notification.userInfo?[key.rawValue] as? [PersistentIdentifier]
        }
      }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    let new = JournalEntry("new")
    context.insert(new)
    kept.mood = 5
    context.delete(gone)
    try context.save()
    let keys = ModelContext.NotificationKey.self
    seen.withLock { seen in
      #expect(seen[keys.insertedIdentifiers.rawValue] == [new.persistentModelID])
      #expect(seen[keys.updatedIdentifiers.rawValue] == [kept.persistentModelID])
      #expect(seen[keys.deletedIdentifiers.rawValue]?.count == 1)
    }
  }

  @Test("The main context saves by itself, other contexts do not")
  func autosave() async throws {
    #expect(container.mainContext.autosaveEnabled)
    let saved = AsyncStream<Void>.makeStream()
    let token = NotificationCenter.default.addObserver(
      forName: ModelContext.didSave, object: container.mainContext, queue: nil
    ) { _ in saved.continuation.yield() }
    defer { NotificationCenter.default.removeObserver(token) }
    container.mainContext.insert(JournalEntry("today"))
    for await _ in saved.stream { break }
    #expect(!container.mainContext.hasChanges)
    let other = ModelContext(container)
    #expect(!other.autosaveEnabled)
    #expect(try other.fetch(FetchDescriptor<JournalEntry>()).map(\.text) == ["today"])
    other.insert(JournalEntry("later"))
    #expect(other.hasChanges)
  }

  @Test("What one context saves, the other one reads")
  func twoContexts() throws {
    let main = container.mainContext
    let entry = JournalEntry("first", mood: 1)
    main.insert(entry)
    try main.save()
    let other = ModelContext(container)
    let same = try #require(try other.fetch(FetchDescriptor<JournalEntry>()).first)
    same.mood = 4
    try other.save()
    let low = #Predicate<JournalEntry> { $0.mood != nil && $0.mood! < 3 }
    #expect(try main.fetchCount(FetchDescriptor(predicate: low)) == 0)
    #expect(try main.fetch(FetchDescriptor<JournalEntry>()).first === entry)
    #expect(entry.mood == 4)
  }
}
