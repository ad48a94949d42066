#if PostgreSQL
  import CDEPostgreSQLStore
  import CDEStore
  import CoreDataEvolution
  import Foundation
  import Observation

  /// Measures rows over a server.
  @MainActor
  struct ServerRows {
    let world: ServerWorld
    let rounds: Int
    let isSmoke: Bool
    let importCount: Int

    private var samples: Samples { world.samples }
    /// How many keys are looked up, and how many changes saved, in a round.
    private var callCount: Int { isSmoke ? 50 : 2_000 }
    private var wakeCount: Int { isSmoke ? 5 : 200 }

    func measure(_ row: ServerRow) async throws -> ServerResult {
      switch row {
      case .fetch: try await compare(row, per: samples.itemCount, try fetch())
      case .fetchObjects: try await compare(row, per: samples.itemCount, try fetchObjects())
      case .insert: try await compare(row, per: samples.itemCount, try insert())
      case .insertObjects: try await compare(row, per: samples.itemCount, try insertObjects())
      case .lookUp: try await compare(row, per: callCount, try lookUp())
      case .save, .saveDurably: try await compare(row, per: callCount, try save())
      case .wake: try await compare(row, per: wakeCount, [Contender(.ours) { try await wake() }])
      case .importBatch: try await compare(row, per: importCount, importBatch)
      case .writers: preconditionFailure("Several results: ServerWriters measures them.")
      }
    }

    private func compare(
      _ row: ServerRow, per count: Int, _ contenders: [Contender]
    ) async throws -> ServerResult {
      ServerResult(row, try await world.compete(contenders, rounds: rounds, per: count))
    }

    // MARK: Many rows

    private var fetchByHand: Contender {
      let raw = RawServer(world.url)
      raw.prepare("all", "SELECT \(RawServer.columns) FROM item")
      return Contender(.raw) {
        nanoseconds {
          raw.run("all", []) { rows in
            var items: [ItemValues] = []
            items.reserveCapacity(Int(rows.count))
            for row in 0..<rows.count { items.append(rows.item(row)) }
            consume(items)
          }
        }
      }
    }

    private func fetch() throws -> [Contender] {
      let store = try world.emptyStore()
      _ = try store.commit(world.newItems(of: store))
      let entity = store.schema.entity(named: "Item")!
      let cells = ItemCells(entity.layout)
      let ours = Contender(.ours) {
        try nanoseconds {
          let rows = try store.fetch(StoreQuery(entity: entity.index), isKnown: nil)
          var items: [ItemValues] = []
          items.reserveCapacity(samples.itemCount)
          for batch in rows.batches {
            for row in 0..<batch.count { items.append(cells.item(batch, row)) }
          }
          precondition(items.count == samples.itemCount)
          consume(items)
        }
      }
      return [ours, fetchByHand]
    }

    private func fetchObjects() throws -> [Contender] {
      let container = try world.container()
      let request = Item.fetchRequest()
      request.returnsObjectsAsFaults = false
      let ours = Contender(.ours) {
        let context = container.newBackgroundContext()
        return try context.performAndWait { try nanoseconds { consume(try context.fetch(request)) } }
      }
      return [ours, fetchByHand]
    }

    private var insertByHand: Contender {
      Contender(.raw) {
        let raw = RawServer(world.url, schema: "inserted")
        raw.makeTables()
        raw.prepareInsert()
        return nanoseconds {
          raw.execute("BEGIN")
          raw.insert(samples.items)
          raw.execute("COMMIT")
        }
      }
    }

    private func insert() throws -> [Contender] {
      let ours = Contender(.ours) {
        let store = try world.emptyStore()
        let transaction = world.newItems(of: store)
        return try nanoseconds { _ = try store.commit(transaction) }
      }
      return [ours, insertByHand]
    }

    private func insertObjects() throws -> [Contender] {
      let ours = Contender(.ours) {
        let container = try world.container(world.emptySchema())
        let context = container.newBackgroundContext()
        let time = try context.performAndWait {
          let categories = OurStore.makeCategories(samples, in: context)
          try context.save()
          return try nanoseconds {
            for values in samples.items { _ = Item(values, categories: categories, context: context) }
            try context.save()
          }
        }
        try world.close(container)
        return time
      }
      return [ours, insertByHand]
    }

    /// Beside `\copy` of a file by psql, into the columns and the index of our table.
    private var importBatch: [Contender] {
      let ours = Contender(.ours) {
        let container = try world.container(world.emptySchema())
        let context = container.newBackgroundContext()
        let time = try context.performAndWait {
          try nanoseconds { try context.execute(ImportRows.request(importCount)) }
        }
        try world.close(container)
        return time
      }
      let byHand = Contender(.raw) {
        let file = try ImportRows.file(importCount, in: FileManager.default.temporaryDirectory)
        let raw = RawServer(world.url, schema: "imported")
        raw.execute(
          """
          DROP TABLE IF EXISTS entry;
          CREATE TABLE entry(id bigint PRIMARY KEY, entity bigint, version bigint, count bigint, section bigint, title text COLLATE "C");
          CREATE INDEX entry_section ON entry(section)
          """)
        return try nanoseconds {
          let text = try ImportRows.run(
            "psql", [world.url, "-c", "\\copy imported.entry FROM '\(file.path)' (FORMAT csv)"])
          precondition(text == "COPY \(importCount)\n", "psql copied \(text).")
        }
      }
      return [ours, byHand]
    }

    // MARK: Single rows

    private func lookUp() throws -> [Contender] {
      let container = try world.container()
      let keys = samples.randomKeys.prefix(callCount)
      let context = container.newBackgroundContext()
      let ids = try context.performAndWait {
        let byKey = try OurStore.byKey(Item.fetchRequest(), in: context)
        return keys.map { byKey[$0]!.objectID }
      }
      let ours = Contender(.ours) {
        context.performAndWait {
          context.reset()
          return nanoseconds {
            for id in ids {
              let item = context.object(with: id) as! Item
              consume(item.title)
              // The same key comes again, and is to be read again.
              context.refresh(item, mergeChanges: false)
            }
          }
        }
      }
      let raw = RawServer(world.url)
      raw.prepare("one", "SELECT \(RawServer.columns) FROM item WHERE id = $1")
      let byHand = Contender(.raw) {
        nanoseconds { for key in keys { raw.run("one", [.word(key)]) { consume($0.item(0)) } } }
      }
      return [ours, byHand]
    }

    /// The code by hand changes the row if it has the expected version, in a transaction, as ours does.
    private func save() throws -> [Contender] {
      let container = try world.container()
      let context = container.newBackgroundContext()
      let item = try context.performAndWait {
        let request = Item.fetchRequest()
        request.fetchLimit = 1
        return try context.fetch(request)[0]
      }
      let ours = Contender(.ours) {
        try context.performAndWait {
          try nanoseconds {
            for _ in 0..<callCount {
              item.count += 1
              try context.save()
            }
          }
        }
      }
      let raw = RawServer(world.url)
      raw.prepareChange()
      let byHand = Contender(.raw) {
        nanoseconds { for _ in 0..<callCount { raw.change(key: 1) } }
      }
      return [ours, byHand]
    }

    // MARK: Other connections

    /// Waits until a reader of the count is woken.
    private func change(of item: Item) async {
      await withCheckedContinuation { continuation in
        withObservationTracking {
          consume(item.count)
        } onChange: {
          continuation.resume()
        }
      }
    }

    /// From the beginning of a save to the reader of the property, in another container.
    private func wake() async throws -> Double {
      let options = [
        NSPersistentHistoryTrackingKey, NSPersistentStoreRemoteChangeNotificationPostOptionKey,
      ]
      let schema = world.emptySchema()
      let (writing, reading) = (try world.container(schema, options), try world.container(schema, options))
      let writer = writing.newBackgroundContext()
      var values = samples.items[0]
      values.category = nil
      let id = try writer.performAndWait { [values] in
        let item = Item(values, categories: [], context: writer)
        try writer.save()
        return item.objectID
      }
      let view = reading.viewContext
      view.automaticallyMergesChangesFromParent = true
      let domain = CDEObservationDomain(container: reading)
      let read = try view.fetch(Item.fetchRequest())[0]
      let first = read.count
      let clock = ContinuousClock()
      var total = 0.0
      for number in 0...wakeCount {
        let begin = clock.now
        await writer.perform {
          (writer.object(with: id) as! Item).count = first + number + 1
          do { try writer.save() } catch { fatalError("The save failed: \(error)") }
        }
        // The insertion may arrive after the fetch, and wake without another value.
        while read.count != first + number + 1 { await change(of: read) }
        // The first one warms up.
        if number > 0 { total += (clock.now - begin).nanoseconds }
      }
      withExtendedLifetime(domain) {}
      try world.close(writing)
      try world.close(reading)
      return total
    }
  }

  extension RawServer {
    func prepareChange() {
      prepare("version", "SELECT version FROM item WHERE id = $1")
      prepare(
        "change",
        "UPDATE item SET count = count + 1, version = version + 1 WHERE id = $1 AND version = $2 RETURNING version"
      )
    }

    /// Raises the count of a row in a transaction, if the row has the version that was read before.
    func change(key: Int64) {
      let known = versions[key] ?? run("version", [.word(key)]) { Int64(bitPattern: $0.word(0, 0)) }
      execute("BEGIN")
      versions[key] = run("change", [.word(key), .word(known)]) { rows in
        precondition(rows.count == 1, "Another writer changed the row.")
        return Int64(bitPattern: rows.word(0, 0))
      }
      execute("COMMIT")
    }
  }
#endif
