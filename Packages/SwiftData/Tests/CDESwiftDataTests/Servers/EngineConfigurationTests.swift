import CDEModelRuntime
import CDEStore
import CDESwiftData
import Foundation
import Testing

/// Opens stores in memory, and keeps what it was asked for.
private final class NamedEngine: StoreEngine {
  struct Failure: Error {}

  func open(_ opening: StoreOpening) throws -> any Store {
    guard opening.description.url?.scheme == "shelves", opening.description.options["size"] as? Int == 3
    else {
      throw StoreError(.cannotOpen, "The engine was asked for another store.")
    }
    opening.description.url = URL(fileURLWithPath: "/dev/null")
    let memory = NSPersistentStoreCoordinator.registeredStoreEngines[NSInMemoryStoreType]
    guard let memory else { throw Failure() }
    return try memory.open(opening)
  }
}

@Suite("Configurations of engines")
struct EngineConfigurationTests {
  private let url = URL(string: "shelves://app@host/novels")!

  @Test("A configuration names an engine by its store type, with a URL and options")
  func storeType() throws {
    let type = "Named-\(UUID())"
    NSPersistentStoreCoordinator.registerStoreEngine(NamedEngine(), forStoreType: type)
    defer { NSPersistentStoreCoordinator.registerStoreEngine(nil, forStoreType: type) }
    let configuration = ModelConfiguration(storeType: type, url: url, options: ["size": 3])
    #expect(
      configuration.name == "default" && configuration.url == url && !configuration.isStoredInMemoryOnly)
    let container = try ModelContainer(for: Writer.self, Novel.self, configurations: configuration)
    let context = ModelContext(container)
    context.insert(Writer("Ann"))
    try context.save()
    #expect(try ModelContext(container).fetch(FetchDescriptor<Writer>()).map(\.name) == ["Ann"])
    let other = ModelConfiguration(storeType: type, url: url, options: ["size": 4])
    #expect(
      configuration != other
        && configuration == ModelConfiguration(storeType: type, url: url, options: ["size": 3]))
    #expect(throws: SwiftDataError.loadIssueModelContainer) {
      try ModelContainer(for: Writer.self, configurations: other)
    }
  }

  @Test("The scheme of a URL may name a registered engine; without one the error names the remedy")
  func schemes() throws {
    let type = "Shelves"
    let error = #expect(throws: SwiftDataError.self) {
      try ModelContainer(for: Writer.self, configurations: ModelConfiguration(url: url))
    }
    #expect(error?.code == SwiftDataError.loadIssueModelContainer.code)
    #expect(error?.message.contains("storeType:") == true)
    NSPersistentStoreCoordinator.registerStoreEngine(NamedEngine(), forStoreType: type)
    defer { NSPersistentStoreCoordinator.registerStoreEngine(nil, forStoreType: type) }
    // The engine is found, and wants an option.
    let refused = #expect(throws: SwiftDataError.self) {
      try ModelContainer(for: Writer.self, configurations: ModelConfiguration(url: url))
    }
    #expect(refused?.message.contains("asked for another store") == true)
  }
}
