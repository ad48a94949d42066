import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

@testable import CDESQLiteStore

#if os(Linux)
  @Suite("The file descriptors of a store")
  struct DescriptorTests {
    /// The descriptors that lead to a file of the store, by name.
    static func open(_ path: String) -> [String] {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
      return names.compactMap {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
      }
      .filter { $0.hasPrefix(path) }.map { String($0.dropFirst(path.count)) }.sorted()
    }

    // SQLite keeps the descriptor of a closed reader for the next one, as closing it would give up the locks of
    // all connections of the process.
    @Test("are three, five with one reader, and four once the store rests")
    func idle() throws {
      let scratch = Scratch()
      let store = try SQLiteStore.file(scratch.file(), Shop.schema)
      try store.insert("Tag", [Draft(key: -1)])
      #expect(Self.open(scratch.file()) == ["", "-shm", "-wal"])
      let tags = StoreQuery(entity: store.index("Tag"))
      #expect(try store.count(tags) == 1)
      let uses = store.pool.useCount
      #expect(Self.open(scratch.file()) == ["", "", "-shm", "-wal", "-wal"])
      #expect(try store.count(tags) == 1)
      store.pool.closeResting(unlessUsedSince: uses)
      #expect(Self.open(scratch.file()).count == 5)
      store.pool.closeResting(unlessUsedSince: store.pool.useCount)
      #expect(Self.open(scratch.file()) == ["", "", "-shm", "-wal"])
      // And it reads on.
      #expect(try store.count(tags) == 1)
      #expect(Self.open(scratch.file()).count == 5)
      try store.close()
      #expect(Self.open(scratch.file()).isEmpty)
    }

    @Test("are gone after a store that looks for commits of others was closed, or was only freed")
    func observed() throws {
      let scratch = Scratch()
      for closes in [true, false, true, false] {
        var first: SQLiteStore? = try SQLiteStore.file(scratch.file(), Shop.schema)
        var second: SQLiteStore? = try SQLiteStore.file(scratch.file(), Shop.schema)
        let seen = DispatchSemaphore(value: 0)
        _ = try second?.observeOthers { _ in { seen.signal() } }
        _ = try first?.observeOthers { _ in {} }
        try first?.insert("Tag", [Draft(key: -1)])
        seen.wait()
        if closes {
          try first?.close()
          #expect(Self.open(scratch.file()).contains("-shm"))
          try second?.close()
          Self.expectNone(scratch.file())
        }
        (first, second) = (nil, nil)
        Self.expectNone(scratch.file())
      }
    }

    /// Expects that no descriptor is left. A look that runs keeps some of its store until it has ended.
    private static func expectNone(_ path: String) {
      let deadline = ContinuousClock.now + .seconds(60)
      while !open(path).isEmpty, .now < deadline { sched_yield() }
      #expect(open(path).isEmpty)
    }

    /// Leaves the process so many free descriptors, and takes the rest.
    static func leave(_ free: Int) -> [Int32] {
      var limit = rlimit(rlim_cur: 200, rlim_max: 200)
      setrlimit(__rlimit_resource_t(7), &limit)
      var taken: [Int32] = []
      while case let descriptor = Glibc.open("/dev/null", O_RDONLY), descriptor >= 0 {
        taken.append(descriptor)
      }
      for _ in 0..<free { close(taken.removeLast()) }
      return taken
    }

    @Test("that are missing are said to be missing, with the limit and what a store needs", arguments: 0..<8)
    func tooFew(free: Int) async {
      let result = await #expect(
        processExitsWith: .success, observing: [\.standardErrorContent]
      ) { [free = free as Int] in
        let scratch = Scratch()
        var error: StoreError?
        func attempt(_ name: String) {
          do {
            let store = try SQLiteStore.file(scratch.file(name), Shop.schema)
            try store.insert(
              "Item", [Draft(key: -1, values: ["photo": .bytes([1] + [UInt8](repeating: 7, count: 200_000))])]
            )
            _ = try store.count(StoreQuery(entity: store.index("Item")))
            try store.close()
          } catch let failure { error = failure as? StoreError }
        }
        // What Foundation and SQLite open once for the process is open from here on.
        attempt("First.sqlite")
        precondition(error == nil)
        let taken = DescriptorTests.leave(free)
        attempt("Test.sqlite")
        for descriptor in taken { close(descriptor) }
        FileHandle.standardError.write(Data((error.map { "\($0)" } ?? "opened").utf8))
        precondition(free >= 5 ? error == nil : error?.code == .tooManyOpenFiles)
        if let error {
          precondition(error.message.contains("200") && error.message.contains("3 file descriptors"))
        }
        // Nothing is lost or in the way once there are descriptors again.
        error = nil
        attempt("Test.sqlite")
        precondition(error == nil)
      }
      if let result, result.exitStatus != .exitCode(0) {
        print(free, String(decoding: result.standardErrorContent, as: UTF8.self).suffix(600))
      }
    }
  }
#endif
