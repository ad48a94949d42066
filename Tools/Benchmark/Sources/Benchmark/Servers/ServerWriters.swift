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
          Contender(.ours) { race.run(count, savingIn: container, world.samples.distinctKeys) },
          Contender(.raw) { byHand(count) },
        ]
        results.append(
          ServerResult(
            .writers, writers: count, try await world.compete(contenders, rounds: rounds, per: 1)))
      }
      try world.close(container)
      return results
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
