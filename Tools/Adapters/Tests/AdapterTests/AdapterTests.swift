import CDELogAdapter
import CDEMetricsAdapter
import CoreDataEvolution
import Logging
import MetricsTestKit
import Synchronization
import Testing

@testable import CoreMetrics

@PersistentModel
final class Note: NSManagedObject {
  var title: String = ""
}

/// Keeps what is logged.
private struct KeepingHandler: LogHandler {
  final class Lines: Sendable {
    let all = Mutex<[(Logger.Level, String, [String: String])]>([])
  }

  let lines: Lines
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level = .trace

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let metadata = (event.metadata ?? [:]).mapValues { "\($0)" }
    lines.all.withLock { $0.append((event.level, "\(event.message)", metadata)) }
  }
}

/// A process has one metrics system and one record.
@Suite("Adapters", .serialized)
struct AdapterTests {
  private func container() throws -> NSPersistentContainer {
    let container = try NSPersistentContainer.makeRuntimeTest(modelTypes: Note.self)
    let context = container.newBackgroundContext()
    try context.performAndWait {
      for number in 0..<20 { Note(context: context).title = "\(number)" }
      try context.save()
    }
    return container
  }

  @Test("The metrics have what a profile counts")
  func metrics() throws {
    let metrics = TestMetrics()
    MetricsSystem.bootstrapInternal(metrics)
    let container = try container()
    var options = CDEProfile.Options()
    options.counters = MetricsCounters(dimensions: [("store", "notes")])
    CDEProfile.start(options)
    defer { CDEProfile.stop() }
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let notes = try context.fetch(NSFetchRequest<Note>(entityName: "Note"))
      notes[0].title = "changed"
      try context.save()
    }
    #expect(try metrics.expectCounter("coredata_fetches", [("store", "notes")]).totalValue == 1)
    #expect(try metrics.expectCounter("coredata_fetched_results", [("store", "notes")]).totalValue == 20)
    #expect(try metrics.expectCounter("coredata_saved_objects", [("store", "notes")]).totalValue == 1)
    #expect(try metrics.expectTimer("coredata_save_duration", [("store", "notes")]).values.count == 1)
  }

  @Test("The log has an entry for what should be looked at, and a sum")
  func logging() throws {
    let container = try container()
    let lines = KeepingHandler.Lines()
    CDEProfile.start()
    defer { CDEProfile.stop() }
    let context = container.newBackgroundContext()
    let ids = try context.performAndWait {
      let request = NSFetchRequest<NSManagedObjectID>(entityName: "Note")
      request.resultType = .managedObjectIDResultType
      return try context.fetch(request)
    }
    let other = container.newBackgroundContext()
    other.performAndWait {
      for id in ids { #expect((other.object(with: id) as? Note)?.title.isEmpty == false) }
    }
    CDEProfile.report().write(to: Logger(label: "test") { _ in KeepingHandler(lines: lines) })
    let all = lines.all.withLock { $0 }
    let warning = try #require(all.first { $0.0 == .warning && $0.2["fault"] == "Note" })
    #expect(warning.2["count"] == "20" && warning.2["repeated"] == "20")
    #expect(all.last?.0 == .info && all.last?.2["faults"] == "20")
  }
}
