@_spi(CDE) import CDESQLiteFaults
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

@testable import CDESQLiteStore

@Suite("Random damage of a log")
struct DamagedLogTests {
  /// The files at one moment, at which the process might have been killed.
  struct Moment {
    var files: [String: Data]
    var commits: Int
  }

  static let suffixes = ["", "-wal", "-shm"]

  static func names(_ store: SQLiteStore) throws -> [String] {
    let tags = try store.fetch(
      StoreQuery(
        entity: store.index("Tag"),
        sort: [StoreSort(.path(StorePath(end: .object)), isAscending: true)]), isKnown: nil)
    let cell = RowMaker(store, "Tag").cell("name")
    return tags.batches.flatMap { batch in
      (0..<batch.count).map { "\(batch.key($0)) \(batch.string($0, cell) ?? "nil")" }
    }
  }

  /// Makes a store by small commits that reach each other's rows, and notes its files after each.
  static func history(commits: Int, logLimit: Int32, random: inout SplitMix) throws -> (
    moments: [Moment], contents: [[String]]
  ) {
    let scratch = Scratch()
    let store = try SQLiteStore.file(scratch.file(), Shop.schema) {
      $0.synchronous = .off
      $0.checkpointLimits.soft = logLimit
      $0.checkpointLimits.hard = 4 * logLimit
      // The writer copies the log itself, so that no moment is in the midst of a copy.
      $0.checkpointLimits.processors = 1
    }
    func moment(_ commits: Int) throws -> Moment {
      var files: [String: Data] = [:]
      for suffix in suffixes { files[suffix] = scratch.bytes("Test.sqlite" + suffix) }
      return Moment(files: files, commits: commits)
    }
    var contents = [try names(store)]
    var moments = [try moment(0)]
    var versions: [Int64: Int64] = [:]
    for commit in Int64(1)...Int64(commits) {
      var transaction = StoreTransaction()
      let text = String(repeating: "\(commit) ", count: Int.random(in: 1...2_000, using: &random))
      transaction.inserted = [store.batch("Tag", [Draft(key: -1, values: ["name": .text(text)])])]
      let old = Set((0..<3).map { _ in Int64.random(in: 1...commit, using: &random) }).filter { $0 < commit }
      for key in old.sorted() {
        versions[key, default: 1] += 1
        transaction.updated.append(
          RowUpdate(
            batch: store.batch(
              "Tag", [Draft(key: key, version: versions[key]!, values: ["name": .text("\(key) in \(text)")])]),
            changed: [[store.slot("Tag", "name")]]))
      }
      _ = try store.commit(transaction)
      contents.append(try names(store))
      moments.append(try moment(Int(commit)))
    }
    try store.close()
    return (moments, contents)
  }

  static func damage(
    _ files: inout [String: Data], _ suffix: String, _ moments: [Moment], _ random: inout SplitMix
  ) -> String {
    guard var bytes = files[suffix], !bytes.isEmpty else { return "nothing" }
    defer { files[suffix] = bytes }
    switch Int.random(in: 0..<6, using: &random) {
    case 0:
      let count = Int.random(in: 1...8, using: &random)
      for _ in 0..<count {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      }
      return "\(count) bits of \(suffix)"
    case 1:
      bytes = bytes.prefix(Int.random(in: 0..<bytes.count, using: &random))
      return "\(suffix) cut to \(bytes.count)"
    case 2:
      let start = Int.random(in: 0..<bytes.count, using: &random)
      let end = min(bytes.count, start + Int.random(in: 1...10_000, using: &random))
      bytes.replaceSubrange(start..<end, with: Data(count: end - start))
      return "\(suffix) zero in \(start)..<\(end)"
    case 3:
      // The whole frames up to some place, as if the rest had never been written.
      let frames = (bytes.count - 32) / 4_120
      guard suffix == "-wal", frames > 0 else { return "nothing" }
      bytes = bytes.prefix(32 + 4_120 * Int.random(in: 0...frames, using: &random))
      return "\(suffix) cut to \((bytes.count - 32) / 4_120) frames of \(frames)"
    case 4:
      let other = moments.randomElement(using: &random)!
      bytes = other.files[suffix] ?? Data()
      return "\(suffix) of commit \(other.commits)"
    default:
      bytes = Data()
      files[suffix] = nil
      return "\(suffix) deleted"
    }
  }

  @Test(
    "After any damage the rows are those of some commit, or the error is typed",
    arguments: [(UInt64.random(in: 0 ... .max), Int32(4_000)), (UInt64.random(in: 0 ... .max), Int32(60))])
  func damages(seed: UInt64, logLimit: Int32) throws {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["CDE_SEED"].flatMap(UInt64.init) ?? seed
    let rounds = environment["CDE_LOG_DAMAGES"].flatMap(Int.init) ?? 40
    var random = SplitMix(seed: seed)
    let (moments, contents) = try Self.history(commits: 60, logLimit: logLimit, random: &random)
    var refused = 0
    var whole = 0
    for round in 0..<rounds {
      let moment = moments.randomElement(using: &random)!
      let scratch = Scratch()
      var files = moment.files
      var note = Self.damage(&files, "-wal", moments, &random)
      if Bool.random(using: &random) { note += ", " + Self.damage(&files, "-shm", moments, &random) }
      for (suffix, bytes) in files {
        _ = FileManager.default.createFile(atPath: scratch.file("Test.sqlite" + suffix), contents: bytes)
      }
      let comment = Comment(
        rawValue: "seed \(seed), limit \(logLimit), round \(round): commit \(moment.commits), \(note)")
      let store: SQLiteStore
      do { store = try SQLiteStore.file(scratch.file(), Shop.schema) { $0.synchronous = .off } } catch {
        #expect(error is StoreError, comment)
        #expect(scratch.bytes() == files[""], comment)
        #expect(scratch.bytes("Test.sqlite-wal") == files["-wal"], comment)
        refused += 1
        continue
      }
      do {
        let found = try Self.names(store)
        let commit = contents.firstIndex(of: found)
        #expect(commit != nil, comment)
        if commit == moment.commits { whole += 1 }
        // The store goes on from there.
        try store.insert("Owner", [Draft(key: -1)])
        try store.close()
        #expect(sql(scratch.file(), "PRAGMA integrity_check") == [["ok"]], comment)
      } catch { Issue.record(error, comment) }
    }
    print("Damaged logs: seed \(seed), \(rounds) damages, \(refused) refused, \(whole) without loss.")
    #expect(refused < rounds * 2 / 3, "seed \(seed)")
  }
}
