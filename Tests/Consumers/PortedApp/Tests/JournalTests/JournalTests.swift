import CoreData
import SwiftData
import XCTest

@testable import Journal

final class JournalTests: XCTestCase {
  func testAddsAndFindsEntries() async throws {
    let store = JournalStore(modelContainer: try makeContainer())
    let ids = try await store.add([
      .init(title: "Lisbon", mood: .good, labels: ["trip", "sea"]),
      .init(title: "Tax", mood: .bad, labels: ["home"]),
      .init(title: "Algarve", mood: .good, labels: ["trip"]),
    ])
    XCTAssertEqual(Set(ids).count, 3)
    let titles = try await store.titles(in: .good, labelled: "trip")
    XCTAssertEqual(titles, ["Algarve", "Lisbon"])
    try await store.rename(ids[0], to: "Lisboa")
    let renamed = try await store.titles(in: .good, labelled: "sea")
    XCTAssertEqual(renamed, ["Lisboa"])
  }

  @MainActor
  func testMainContextSeesTheStore() async throws {
    let container = try makeContainer()
    let store = JournalStore(modelContainer: container)
    try await store.add([.init(title: "Porto", mood: .fair, labels: [])])
    let entry = try XCTUnwrap(container.mainContext.fetch(FetchDescriptor<Entry>()).first)
    entry.place = Place(latitude: 41.1, longitude: -8.6, name: "Porto")
    entry.isExpanded = true
    try container.mainContext.save()
    XCTAssertEqual(entry.place?.name, "Porto")
    XCTAssertEqual(entry.summary, "Porto")
    XCTAssertTrue(entry.labels.isEmpty)
  }

  func testFileIsReadByCoreData() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appendingPathComponent("journal.store")
    try await JournalStore(modelContainer: try makeContainer(at: url))
      .add([.init(title: "Faro", mood: .good, labels: ["sea"])])
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: url)
    let hashes = try XCTUnwrap(metadata[NSStoreModelVersionHashesKey] as? [String: Data])
    XCTAssertEqual(Set(hashes.keys), ["Entry", "Label"])
  }
}
