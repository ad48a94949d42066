#if PostgreSQL
  import CoreDataEvolution

  /// Row writers: 1, 2, 4, 8 and 16 writers save changes of rows of their own, for a while.
  @MainActor
  struct ServerWriters {
    let world: ServerWorld
    let rounds: Int
    let isSmoke: Bool

    private var race: WriterRace { WriterRace(seconds: isSmoke ? 0.1 : 1) }

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
      return race.run(count) { writer in
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
      return race.run(count) { writer in
        let raw = RawServer(url)
        raw.prepareChange()
        return { raw.change(key: keys[writer]) }
      }
    }
  }
#endif
