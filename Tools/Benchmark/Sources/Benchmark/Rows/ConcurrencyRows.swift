import CoreDataEvolution
import GRDB

/// Rows j: one writer beside one reader, for a while. Both rows come from the same runs.
@MainActor
struct ConcurrencyRows {
  let workspace: Workspace

  private var seconds: Double { workspace.isSmoke ? 0.2 : 2 }

  /// Time of a transaction and of a read, in nanoseconds.
  private struct Pace {
    var write: Double
    var read: Double
  }

  func measure(rounds count: Int, isAlone: Bool) async throws -> (write: Rounds, read: Rounds) {
    var contenders: [(Contender.Side, @MainActor () async throws -> Pace)] = [
      (.ours, ours), (.raw, { try await raw(.plain) }), (.rawTuned, { try await raw(.ours) }),
      (.grdb, records),
    ]
    if isAlone { contenders.removeAll { $0.0 != .ours } }
    var (write, read) = (Rounds(), Rounds())
    for round in 0..<count {
      for offset in contenders.indices {
        let (side, run) = contenders[(offset + round) % contenders.count]
        SQLiteProcess.restart(for: side)
        let pace = try await run()
        write.figures[side, default: []].append(pace.write)
        read.figures[side, default: []].append(pace.read)
      }
    }
    SQLiteProcess.restartAsOpponents()
    return (write, read)
  }

  /// Lets both run until time is up. They are told the number of each turn.
  private func race(
    write: @escaping @Sendable (Int) throws -> Void, read: @escaping @Sendable (Int) throws -> Void
  ) async throws -> Pace {
    let end = ContinuousClock.now + .seconds(seconds)
    @Sendable func turns(_ body: @Sendable (Int) throws -> Void) throws -> Double {
      let start = ContinuousClock.now
      var turn = 0
      while ContinuousClock.now < end {
        try body(turn)
        turn += 1
      }
      return (ContinuousClock.now - start).nanoseconds / Double(turn)
    }
    let writing = Task.detached { try turns(write) }
    let reading = Task.detached { try turns(read) }
    return Pace(write: try await writing.value, read: try await reading.value)
  }

  private func ours() async throws -> Pace {
    let samples = workspace.samples
    let store = try workspace.oursCopy()
    let (writer, reader) = (store.container.newBackgroundContext(), store.container.newBackgroundContext())
    let items = try writer.performAndWait { Confined(try OurStore.byKey(Item.fetchRequest(), in: writer)) }
    let categories = try reader.performAndWait {
      Confined(try OurStore.byKey(Category.fetchRequest(), in: reader))
    }
    let pace = try await race(
      write: { turn in
        try writer.performAndWait {
          for step in turn * 10..<turn * 10 + 10 {
            items.value[samples.randomKeys[step % samples.itemCount]]!.count = step
          }
          try writer.save()
        }
      },
      read: { turn in
        try reader.performAndWait {
          let request = Item.fetchRequest()
          request.predicate = NSPredicate(
            format: "category == %@", categories.value[Int64(1 + turn % samples.categoryCount)]!)
          consume(try reader.fetch(request))
        }
      })
    try store.close()
    return pace
  }

  private func raw(_ pragmas: RawDatabase.Pragmas) async throws -> Pace {
    let samples = workspace.samples
    let path = try workspace.rawCopyPath()
    let (writer, reader) = (RawDatabase(path, pragmas), RawDatabase(path, pragmas))
    let update = Confined((writer, writer.prepare("UPDATE item SET count=? WHERE id=?")))
    let select = Confined(
      (reader, reader.prepare("SELECT \(RawDatabase.columns) FROM item WHERE category = ?")))
    return try await race(
      write: { turn in
        let (database, statement) = update.value
        database.execute("BEGIN IMMEDIATE")
        for step in turn * 10..<turn * 10 + 10 {
          statement.bind(1, Int64(step))
          statement.bind(2, samples.randomKeys[step % samples.itemCount])
          statement.run()
        }
        database.execute("COMMIT")
        // Ours copies the log back beside the saves; without any of that the log would only grow.
        if pragmas == .ours, turn % 250 == 249 { database.execute("PRAGMA wal_checkpoint(PASSIVE)") }
      },
      read: { turn in
        let statement = select.value.1
        statement.bind(1, Int64(1 + turn % samples.categoryCount))
        consume(statement.items())
      })
  }

  private func records() async throws -> Pace {
    let samples = workspace.samples
    let pool = try RecordDatabase.open(workspace.rawCopyPath())
    let pace = try await race(
      write: { turn in
        try pool.write { database in
          for step in turn * 10..<turn * 10 + 10 {
            var record = ItemRecord(samples.items[Int(samples.randomKeys[step % samples.itemCount]) - 1])
            record.values.count = step
            try record.update(database, columns: ["count"])
          }
        }
      },
      read: { turn in
        let category = Int64(1 + turn % samples.categoryCount)
        consume(try pool.read { try ItemRecord.filter(Column("category") == category).fetchAll($0) })
      })
    try pool.close()
    return pace
  }
}

/// Takes what one side works with to the task that works with it.
private struct Confined<Value>: @unchecked Sendable {
  // Guard: made before the tasks start, then used by one of them only.
  let value: Value

  init(_ value: Value) { self.value = value }
}
