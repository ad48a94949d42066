#if PostgreSQL
  import CoreDataEvolution
  import Synchronization

  /// Row writers: 1, 2, 4 and 8 writers save changes of rows of their own, for a while.
  @MainActor
  struct ServerWriters {
    let world: ServerWorld
    let rounds: Int
    let isSmoke: Bool

    private var seconds: Double { isSmoke ? 0.1 : 1 }

    func measure() async throws -> [ServerResult] {
      let container = try world.container()
      var results: [ServerResult] = []
      for count in ServerRow.writerCounts {
        let contenders = [
          Contender(.ours) { try ours(container, count) }, Contender(.raw) { byHand(count) },
        ]
        results.append(
          ServerResult(
            .writers, writers: count, try await world.compete(contenders, rounds: rounds, per: 1)))
      }
      try world.close(container)
      return results
    }

    private func ours(_ container: NSPersistentContainer, _ count: Int) throws -> Double {
      let keys = world.samples.distinctKeys
      return run(count) { writer in
        let context = container.newBackgroundContext()
        let request = Item.fetchRequest()
        request.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
        request.fetchOffset = Int(keys[writer]) - 1
        request.fetchLimit = 1
        let item = context.performAndWait { try! context.fetch(request)[0] }
        return {
          context.performAndWait {
            item.count += 1
            do { try context.save() } catch { fatalError("A save failed: \(error)") }
          }
        }
      }
    }

    private func byHand(_ count: Int) -> Double {
      let (url, keys) = (world.url, world.samples.distinctKeys)
      return run(count) { writer in
        let raw = RawServer(url)
        raw.prepareChange()
        return { raw.change(key: keys[writer]) }
      }
    }

    /// Runs writers on threads of their own until the time is over.
    ///
    /// - Parameter make: makes the work of one writer, on its thread.
    /// - Returns: the nanoseconds that pass for one save of all writers together.
    private func run(_ count: Int, _ make: @escaping @Sendable (Int) -> () -> Void) -> Double {
      let (ready, go, end) = (DispatchGroup(), DispatchSemaphore(value: 0), DispatchGroup())
      let progress = Progress()
      for writer in 0..<count {
        ready.enter()
        end.enter()
        Thread.detachNewThread {
          let work = make(writer)
          work()
          ready.leave()
          go.wait()
          while !progress.isOver.load(ordering: .relaxed) {
            work()
            progress.saves.wrappingAdd(1, ordering: .relaxed)
          }
          end.leave()
        }
      }
      ready.wait()
      let clock = ContinuousClock()
      let start = clock.now
      for _ in 0..<count { go.signal() }
      Thread.sleep(forTimeInterval: seconds)
      progress.isOver.store(true, ordering: .relaxed)
      end.wait()
      return (clock.now - start).nanoseconds / Double(max(progress.saves.load(ordering: .relaxed), 1))
    }

    private final class Progress: Sendable {
      let isOver = Atomic(false)
      let saves = Atomic(0)
    }
  }
#endif
