import CoreDataEvolution
import Observation

/// Row remote-wake: from the beginning of a save in another process to the reader that it wakes here.
@MainActor
struct RemoteWakeRow {
  let workspace: Workspace

  static func wakes(_ workspace: Workspace) -> Int { workspace.isSmoke ? 5 : 200 }

  var contenders: [Contender] { [Contender(.ours) { try await time() }] }

  private func time() async throws -> Double {
    let store = try workspace.oursCopy(OtherWriter.options)
    let view = store.container.viewContext
    view.automaticallyMergesChangesFromParent = true
    let domain = CDEObservationDomain(container: store.container)
    let item = try OtherWriter.item(of: view)
    let writer = try OtherWriter(store.container.persistentStoreDescriptions[0].url!.path)
    // The process has set the count once when it began.
    while item.count != OtherWriter.firstCount { await change(of: item) {} }
    var total = 0.0
    for number in 1...Self.wakes(workspace) {
      await change(of: item) { writer.saveOnce() }
      let woken = OtherWriter.now
      total += woken - (try writer.beginOfSave())
      precondition(item.count == OtherWriter.firstCount + number, "The reader woke without the saved value.")
    }
    writer.end()
    withExtendedLifetime(domain) {}
    try store.close()
    return total
  }
}

/// Waits until a reader of the count is woken.
@MainActor
private func change(of item: Item, after begin: () -> Void) async {
  await withCheckedContinuation { continuation in
    withObservationTracking {
      consume(item.count)
    } onChange: {
      continuation.resume()
    }
    begin()
  }
}

/// A process that saves one change whenever it is told to.
final class OtherWriter {
  static let options = [
    NSPersistentHistoryTrackingKey, NSPersistentStoreRemoteChangeNotificationPostOptionKey,
  ]
  static let firstCount = 1_000_000

  private let process = Process()
  private let (input, output) = (Pipe(), Pipe())

  /// Starts the process, and waits until it has opened the store.
  init(_ path: String) throws {
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["--write", path]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    _ = try beginOfSave()
  }

  func saveOnce() { input.fileHandleForWriting.write(Data("\n".utf8)) }

  /// The time at which the last save began, by ``now`` of the process.
  func beginOfSave() throws -> Double {
    var line = Data()
    while line.last != UInt8(ascii: "\n") {
      let part = output.fileHandleForReading.availableData
      if part.isEmpty {
        throw MemoryRow.Failure(description: "The process that writes to the store ended early.")
      }
      line += part
    }
    return Double(String(decoding: line.dropLast(), as: UTF8.self)) ?? .nan
  }

  func end() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// Nanoseconds of the clock that all processes share.
  static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }

  static func item(of context: NSManagedObjectContext) throws -> Item {
    let request = Item.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
    request.fetchLimit = 1
    return try context.fetch(request)[0]
  }

  // MARK: In the child

  @MainActor
  static func runChild(_ path: String) throws {
    let store = try OurStore(at: URL(fileURLWithPath: path), options)
    let context = store.container.viewContext
    let item = try item(of: context)
    item.count = firstCount
    try context.save()
    report(now)
    while readLine() != nil {
      let begin = now
      item.count += 1
      try context.save()
      report(begin)
    }
    try store.close()
  }

  private static func report(_ time: Double) {
    print(time)
    fflush(nil)
  }
}
