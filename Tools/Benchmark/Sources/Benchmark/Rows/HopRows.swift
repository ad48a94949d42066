import CoreDataEvolution
import class CDESwiftData.ModelContainer

/// Rows hop: from a task on the pool to an actor and back.
@MainActor
struct HopRows {
  private let store: OurStore
  let calls: Int

  init(_ workspace: Workspace) throws {
    store = try workspace.ours()
    calls = workspace.isSmoke ? 2_000 : 200_000
  }

  private actor DefaultActor {
    private var count = 0

    func increment() -> Int {
      count &+= 1
      return count
    }
  }

  private var defaultActor: Contender {
    Contender(.reference) { [calls] in
      let actor = DefaultActor()
      return await Self.time {
        for _ in 0..<calls { consume(await actor.increment()) }
      }
    }
  }

  var modelActor: [Contender] {
    [
      Contender(.ours) { [calls] in
        let actor = CountingModelActor(container: store.container)
        return await Self.time {
          for _ in 0..<calls { consume(await actor.increment()) }
        }
      },
      defaultActor,
    ]
  }

  /// A call of SwiftData's model actor beside one of `@NSModelActor`.
  func swiftDataActor(_ container: ModelContainer) -> [Contender] {
    [
      Contender(.ours) { [calls] in
        let actor = CountingSwiftDataActor(modelContainer: container)
        return await Self.time {
          for _ in 0..<calls { consume(await actor.increment()) }
        }
      },
      Contender(.reference) { [calls] in
        let actor = CountingModelActor(container: store.container)
        return await Self.time {
          for _ in 0..<calls { consume(await actor.increment()) }
        }
      },
    ]
  }

  var perform: [Contender] {
    [
      Contender(.ours) { [calls] in
        let context = store.container.newBackgroundContext()
        return await Self.time {
          for call in 0..<calls { consume(await context.perform { call &+ 1 }) }
        }
      },
      defaultActor,
    ]
  }

  /// Runs a body on the pool: calls from the main actor have to change threads, in any contender.
  private static func time(_ body: @escaping @Sendable () async -> Void) async -> Double {
    await Task.detached { await nanoseconds(awaiting: body) }.value
  }
}

@NSModelActor
actor CountingModelActor {
  private var count = 0

  func increment() -> Int {
    count &+= 1
    return count
  }
}
