import Foundation
import os

#if canImport(SwiftData)
  import SwiftData
#endif

private let log = Logger(subsystem: "Journal", category: "store")

/// Imports entries and answers questions about them away from the main actor.
@ModelActor
public actor JournalStore {
  public struct Draft: Sendable {
    public var title: String
    public var mood: Mood
    public var labels: [String]

    public init(title: String, mood: Mood, labels: [String]) {
      self.title = title
      self.mood = mood
      self.labels = labels
    }
  }

  @discardableResult
  public func add(_ drafts: [Draft]) throws -> [PersistentIdentifier] {
    var known = Dictionary(
      uniqueKeysWithValues: try modelContext.fetch(FetchDescriptor<Label>()).map { ($0.name, $0) })
    let entries = drafts.map { draft in
      let entry = Entry(title: draft.title, mood: draft.mood)
      modelContext.insert(entry)
      for name in draft.labels {
        let label = known[name] ?? Label(name)
        known[name] = label
        entry.labels.append(label)
      }
      return entry
    }
    try modelContext.save()
    log.info("\(entries.count) entries added")
    return entries.map(\.persistentModelID)
  }

  public func titles(in mood: Mood, labelled name: String) throws -> [String] {
    let wanted = mood.rawValue
    let descriptor = FetchDescriptor<Entry>(
      predicate: #Predicate { entry in
        entry.mood.rawValue == wanted && entry.labels.contains { $0.name == name }
      },
      sortBy: [SortDescriptor(\.title)])
    return try modelContext.fetch(descriptor).map(\.title)
  }

  public func rename(_ id: SwiftData.PersistentIdentifier, to title: String) throws {
    guard let entry = self[id, as: Entry.self] else { return }
    entry.title = title
    try modelContext.save()
  }
}

public func makeContainer(at url: URL? = nil) throws -> SwiftData.ModelContainer {
  let schema = Schema(versionedSchema: JournalSchemaV1.self)
  let configuration =
    url.map { ModelConfiguration(schema: schema, url: $0) }
    ?? ModelConfiguration(schema: schema, isStoredInMemoryOnly: true)
  return try ModelContainer(for: schema, configurations: [configuration])
}
