import CDESwiftData
import Testing

@Model
final class Quake {
  @Attribute(.unique) var code: String
  var magnitude: Double
  var time: Date
  var place: String

  init(code: String, magnitude: Double, time: Date, place: String) {
    self.code = code
    self.magnitude = magnitude
    self.time = time
    self.place = place
  }
}

private struct Feed: Decodable {
  struct Feature: Decodable {
    let code: String
    let mag: Double
    let time: Date
    let place: String
  }
  let features: [Feature]
}

extension Quake {
  fileprivate convenience init(_ feature: Feed.Feature) {
    self.init(code: feature.code, magnitude: feature.mag, time: feature.time, place: feature.place)
  }
}

@ModelActor
actor QuakeImporter {
  private(set) var imported = 0

  func importFeed(_ data: Data) throws -> Int {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .secondsSince1970
    let feed = try decoder.decode(Feed.self, from: data)
    for chunk in stride(from: 0, to: feed.features.count, by: 100) {
      for feature in feed.features[chunk..<min(chunk + 100, feed.features.count)] {
        modelContext.insert(Quake(feature))
        imported += 1
      }
      try modelContext.save()
    }
    return try modelContext.fetchCount(FetchDescriptor<Quake>())
  }

  func strongest(_ count: Int) throws -> [PersistentIdentifier] {
    var descriptor = FetchDescriptor<Quake>(sortBy: [SortDescriptor(\.magnitude, order: .reverse)])
    descriptor.fetchLimit = count
    return try modelContext.fetchIdentifiers(descriptor)
  }

  func place(of id: PersistentIdentifier) -> String? { self[id, as: Quake.self]?.place }

  func removeAll(weakerThan limit: Double) throws {
    try modelContext.delete(model: Quake.self, where: #Predicate { $0.magnitude < limit })
    try modelContext.save()
  }

  var runsOnMainThread: Bool { Thread.isMainThread }
}

@Suite("An importer on an actor")
struct ImporterProgram {
  func feed(_ range: Range<Int>, place: String) -> Data {
    let features = range.map {
      #"{"code": "q\#($0)", "mag": \#(Double($0 % 90) / 10), "time": \#($0), "place": "\#(place)"}"#
    }
    return Data(#"{"features": [\#(features.joined(separator: ","))]}"#.utf8)
  }

  @Test("A feed that comes again updates what is there")
  @MainActor
  func twice() async throws {
    let container = try ModelContainer(
      for: Quake.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let importer = QuakeImporter(modelContainer: container)
    #expect(try await importer.importFeed(feed(0..<450, place: "A")) == 450)
    #expect(try await importer.importFeed(feed(400..<500, place: "B")) == 500)
    #expect(await importer.imported == 550)
    #expect(await !importer.runsOnMainThread)
    let strongest = try await importer.strongest(3)
    #expect(strongest.count == 3)
    #expect(await importer.place(of: strongest[0]) != nil)
    // The main context sees what the actor saved.
    let quakes = try container.mainContext.fetch(
      FetchDescriptor<Quake>(predicate: #Predicate { $0.place == "B" }))
    #expect(quakes.count == 100)
    let first = try #require(container.mainContext.model(for: strongest[0]) as? Quake)
    #expect(first.magnitude == 8.9)
    try await importer.removeAll(weakerThan: 8)
    #expect(
      try container.mainContext.fetchCount(FetchDescriptor<Quake>())
        == (0..<500).filter { $0 % 90 >= 80 }.count)
  }
}
