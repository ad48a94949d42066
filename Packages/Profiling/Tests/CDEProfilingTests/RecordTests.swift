@_spi(CDE) import CDEProfiling
import Foundation
import Testing

@testable import CDEProfiling

/// Counts what a profile reports.
private final class CountingCounters: CDEProfileCounters {
  let counts = Mutexed<[CDEProfileCounter: Int]>([:])
  let times = Mutexed<[CDEProfileTimer: Int]>([:])

  func add(_ amount: Int, to counter: CDEProfileCounter) {
    counts.withLock { $0[counter, default: 0] += amount }
  }

  func record(_ duration: Duration, of timer: CDEProfileTimer) {
    times.withLock { $0[timer, default: 0] += 1 }
  }
}

/// There is one record in a process, so these tests run one after the other.
@Suite("Records", .serialized)
struct RecordTests {
  final class Entity {}

  let book = Entity()
  let author = Entity()

  /// - Parameter finding: whether places are looked up, which takes seconds in a large program of tests.
  private func recording(
    finding: Bool = false, _ change: (inout CDEProfile.Options) -> Void = { _ in },
    _ body: (ProfileRecorder) throws -> Void
  ) throws -> CDEProfileReport {
    var options = CDEProfile.Options()
    change(&options)
    CDEProfile.start(options)
    defer { CDEProfile.stop() }
    try body(try #require(ProfileRecorder.active))
    return ProfileRecorder.shared.report(placesAreLookedUp: finding)
  }

  @Test("Nothing records before a start and after a stop")
  func switching() throws {
    CDEProfile.stop()
    #expect(ProfileRecorder.active == nil)
    CDEProfile.start()
    #expect(CDEProfile.isRecording)
    CDEProfile.stop()
    #expect(!CDEProfile.isRecording && ProfileRecorder.active == nil && !ProfileRecorder.timesBlocks)
  }

  @Test("Ten faults of a kind in one context are a run, nine are none, and contexts count apart")
  func runs() throws {
    let report = try recording { recorder in
      let (one, other) = (recorder.makeActivity("one"), recorder.makeActivity("other"))
      var found = 0
      for _ in 0..<9 {
        if one.note(.objects(of: author), at: 7, { ("Author", nil) }) { found += 1 }
        if other.note(.objects(of: author), at: 7, { ("Author", nil) }) { found += 1 }
      }
      #expect(found == 0)
      for _ in 0..<5 where one.note(.objects(of: author), at: 7, { ("Author", nil) }) { found += 1 }
      #expect(found == 1)
    }
    let fault = try #require(report.faults.first)
    #expect(report.faults.count == 1 && fault.count == 23 && fault.repeated == 14)
    #expect(report.contexts == ["one", "other"])
  }

  @Test("Events of other keys do not end a run")
  func interleaving() throws {
    let report = try recording { recorder in
      let activity = recorder.makeActivity("view")
      for _ in 0..<12 {
        _ = activity.note(.objects(of: author), at: 7) { ("Author", nil) }
        _ = activity.note(.members(of: book, slot: 3), at: 7) { ("Book", "tags") }
      }
    }
    #expect(report.repeatedFaults.map(\.repeated) == [12, 12])
    #expect(Set(report.faults.map { $0.relationship ?? "" }) == ["", "tags"])
  }

  @Test("A pause of more than a second ends a run")
  func pauses() throws {
    let report = try recording { recorder in
      let activity = recorder.makeActivity("view")
      var now: UInt64 = 1
      for number in 1...40 {
        _ = activity.note(.objects(of: author), at: now) { ("Author", nil) }
        now += number.isMultiple(of: 9) ? 1_000_000_001 : 1_000_000_000
      }
    }
    #expect(report.faults.map(\.count) == [40] && report.repeatedFaults.isEmpty)
  }

  @Test("More kinds than a context keeps are still counted")
  func manyKinds() throws {
    let entities = (0..<100).map { _ in Entity() }
    let report = try recording { recorder in
      let activity = recorder.makeActivity("view")
      for _ in 0..<3 {
        for (number, entity) in entities.enumerated() {
          _ = activity.note(.objects(of: entity), names: { ("E\(number)", nil) })
        }
      }
    }
    #expect(report.faults.count == 100 && report.faults.allSatisfy { $0.count == 3 && $0.repeated == 0 })
  }

  @Test("The events of contexts that ended stay counted")
  func endedContexts() throws {
    var found: Int?
    let report = try recording { recorder in
      for number in 0..<1000 {
        let activity = recorder.makeActivity("request \(number)")
        for _ in 0..<(number.isMultiple(of: 2) ? 3 : 12) {
          _ = activity.note(.objects(of: author), at: 7) { ("Author", nil) }
        }
      }
      found = recorder.knownKind(.objects(of: author))?.noted.counts.count
    }
    let fault = try #require(report.faults.first)
    #expect(fault.count == 7500 && fault.repeated == 6000 && found == 0)
    #expect(fault.places.reduce(0) { $0 + $1.count } == 7500)
  }

  @Test("Contexts that count at the same time lose no event, and reports may be made meanwhile")
  func parallelContexts() async throws {
    CDEProfile.start(CDEProfile.Options())
    defer { CDEProfile.stop() }
    let recorder = try #require(ProfileRecorder.active)
    let key = ActivityKey.objects(of: author)
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        group.addTask {
          let activity = recorder.makeActivity("\(number)")
          for _ in 0..<5000 { _ = activity.note(key, names: { ("Author", nil) }) }
        }
      }
      group.addTask {
        var last = 0
        for _ in 0..<20 {
          let count = recorder.report(placesAreLookedUp: false).faults.first?.count ?? 0
          #expect(count >= last)
          last = count
        }
      }
    }
    #expect(recorder.report(placesAreLookedUp: false).faults.map(\.count) == [20_000])
  }

  @Test("All events have a place, also those that were not looked at")
  func places() throws {
    let report = try recording(finding: true) { recorder in
      let activity = recorder.makeActivity("view")
      for _ in 0..<1000 { _ = activity.note(.objects(of: author), names: { ("Author", nil) }) }
    }
    let fault = try #require(report.faults.first)
    let explained = fault.places.reduce(0) { $0 + $1.count }
    #expect(explained == 1000 && fault.count == 1000)
    #expect(fault.places.first?.place?.contains("RecordTests.swift") == true)
  }

  @Test("The remedy names the fetch and the paths")
  func remedies() throws {
    let report = try recording(finding: true) { recorder in
      let activity = recorder.makeActivity("view")
      _ = activity.note(.fetches(of: book), names: { ("Book", nil) })
      activity.noteFetch(of: "Book", key: .fetches(of: book))
      for _ in 0..<10 where activity.note(.objects(of: author), at: 7, { ("Author", nil) }) {
        activity.note(
          FoundRemedy(activity.recentFetches.first, keyPaths: ["author"]), for: .objects(of: author))
      }
    }
    let remedy = try #require(report.faults.first?.remedy)
    #expect(remedy.entity == "Book" && remedy.keyPaths == ["author"])
    #expect(remedy.place?.contains("RecordTests.swift") == true)
    #expect(report.description.contains("relationshipKeyPathsForPrefetching = [\"author\"]"))
    #expect(report.html.contains("relationshipKeyPathsForPrefetching"))
  }

  @Test("What takes long is listed, the slowest first, without values")
  func slow() throws {
    let report = try recording {
      $0.slow = .zero
    } _: { recorder in
      let activity = recorder.makeActivity("view <1>")
      for number in 0..<30 {
        recorder.noteFetch(
          of: "Book", from: .now - .milliseconds(number), results: number, in: activity
        ) { #"title == "Secret" AND pages > 12"# }
      }
      recorder.noteSave(from: .now, objects: 3, in: activity, failed: true)
      recorder.noteMerge(from: .now, objects: 4, in: activity)
    }
    #expect(report.fetches.count == 30 && report.fetches.slow.count == 20)
    #expect(report.fetches.slow[0].detail == "29 results where title == ? AND pages > ?")
    #expect(
      zip(report.fetches.slow, report.fetches.slow.dropFirst()).allSatisfy {
        $0.milliseconds >= $1.milliseconds
      })
    #expect(report.saves.slow.map(\.detail) == ["3 objects, failed"])
    #expect(report.merges.count == 1)
    #expect(!report.description.contains("Secret") && report.html.contains("view &lt;1&gt;"))
  }

  @Test("Counters get each event")
  func counters() throws {
    let counters = CountingCounters()
    _ = try recording {
      $0.counters = counters
    } _: { recorder in
      let activity = recorder.makeActivity("view")
      for _ in 0..<12 { _ = activity.note(.objects(of: author), at: 7) { ("Author", nil) } }
      _ = activity.note(.members(of: book, slot: 0), names: { ("Book", "tags") })
      recorder.noteFetch(of: "Book", from: .now, results: 7, in: activity) { "" }
      recorder.noteSave(from: .now, objects: 2, in: activity, failed: false)
      recorder.noteWake(of: "Book")
    }
    #expect(
      counters.counts.withLock { $0 } == [
        .objectFaults: 12, .repeatedFaults: 12, .relationshipFaults: 1, .fetches: 1, .fetchedResults: 7,
        .saves: 1, .savedObjects: 2, .wakes: 1,
      ])
    #expect(counters.times.withLock { $0 } == [.fetch: 1, .save: 1])
  }

  @Test("The timeline has lanes of contexts and of readers, and lets old events go")
  func timeline() throws {
    let report = try recording {
      $0.recordsTimeline = true
    } _: { recorder in
      let activity = recorder.makeActivity("view")
      for _ in 0..<Timeline.limit + 10 { recorder.noteBlock(from: .now, in: activity) }
      recorder.noteWake(of: "Book")
    }
    #expect(report.timeline.count == Timeline.limit && report.droppedEvents == 11)
    #expect(report.timeline.last?.kind == "wake")
    #expect(report.contexts == ["view", "woken readers"])
    #expect(report.html.contains("<svg") && report.html.utf8.count < 5_000_000)
  }

  @Test("An activity of a former record is counted in none")
  func formerRecords() throws {
    var former: ContextActivity?
    _ = try recording { former = $0.makeActivity("former") }
    let report = try recording { recorder in
      let former = try #require(former)
      #expect(former.record != recorder.record)
      recorder.noteSave(from: .now, objects: 1, in: former, failed: false)
    }
    #expect(report.saves.count == 0)
  }

  @Test("A report is the same after it was written and read")
  func coding() throws {
    let report = try recording {
      $0.recordsTimeline = true
    } _: { recorder in
      let activity = recorder.makeActivity("view")
      for _ in 0..<20 { _ = activity.note(.objects(of: author), names: { ("Author", nil) }) }
      recorder.noteSave(from: .now - .seconds(1), objects: 1, in: activity, failed: false)
    }
    let read = try JSONDecoder().decode(CDEProfileReport.self, from: JSONEncoder().encode(report))
    #expect(read.faults == report.faults && read.saves == report.saves && read.timeline == report.timeline)
  }
}
