#if PostgreSQL
  import CDEManagedModel
  import CDEModelRuntime
  import CDEPostgreSQL
  @_spi(CDE) import CDESQLiteFaults
  import Foundation
  import Testing

  /// Random versions of random models, migrated on a server and in a file, with the same objects.
  @Suite(.enabled(if: TestPlace.url != nil, "CDE_POSTGRESQL_URL names no server"))
  struct MigrationAgreementTests {
    @Test func `A server's store has the objects and orders of a file's after each of three migrations`()
      throws
    {
      let environment = ProcessInfo.processInfo.environment
      let seed = environment["CDE_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0..<1_000_000)
      let count = environment["CDE_MIGRATIONS"].flatMap(Int.init) ?? 5
      for round in 0..<count { try run(seed: seed &+ UInt64(round)) }
    }

    private func run(seed: UInt64) throws {
      print("Migrations on a server and in a file, seed \(seed)")
      var random = MigrationRandom(seed: seed)
      var spec = MigrationSpec(&random)
      let place = TestPlace()
      let file = NSPersistentStoreDescription(url: ProcessFolder.newURL().appendingPathExtension("sqlite"))
      let server = place.description()
      for description in [file, server] {
        try Self.work(description, spec.model()) { context in
          try spec.fill(context)
          try context.save()
          try Self.arrange(spec, context)
          try context.save()
        }
      }
      var unordered = Set(Self.twiceOrdered(spec))
      let filled = try [server, file].map {
        try Self.work($0, spec.model()) { try Self.facts(spec, unordered, $0) }
      }
      try #require(filled[0] == filled[1], "seed \(seed): the stores differ before any migration")
      for version in 1...3 {
        let before = spec
        spec.change(&random)
        unordered.formUnion(Self.twiceOrdered(spec))
        let comment = Comment("seed \(seed), version \(version)\nbefore: \(before)\nafter: \(spec)")
        do {
          let coordinator = NSPersistentStoreCoordinator(managedObjectModel: spec.model())
          let (planned, wanted) = (
            try coordinator.migrationPlan(for: server), try coordinator.migrationPlan(for: file)
          )
          #expect(planned.changes == wanted.changes && planned.rows == wanted.rows, comment)
          #expect(Set(planned.rewrittenTables) == Set(wanted.rewrittenTables), comment)
          let found = try Self.work(server, spec.model()) { try Self.facts(spec, unordered, $0) }
          let expected = try Self.work(file, spec.model()) { try Self.facts(spec, unordered, $0) }
          for id in Set(found.keys).union(expected.keys) where found[id] != expected[id] {
            Issue.record("object \(id): \(found[id] ?? [:]) and not \(expected[id] ?? [:])\n\(comment)")
          }
        } catch {
          Issue.record("\(comment): \(error)")
          return
        }
      }
    }

    /// Works on a store that is opened for that, and closes it.
    private static func work<Value>(
      _ description: NSPersistentStoreDescription, _ model: NSManagedObjectModel,
      _ body: (NSManagedObjectContext) throws -> Value
    ) throws -> Value {
      let container = NSPersistentContainer(name: "Test", managedObjectModel: model)
      container.persistentStoreDescriptions = [description]
      var failure: (any Error)?
      container.loadPersistentStores { failure = $1 }
      if let failure { throw failure }
      defer {
        for store in container.persistentStoreCoordinator.persistentStores {
          try? container.persistentStoreCoordinator.remove(store)
        }
      }
      let context = container.newBackgroundContext()
      return try context.performAndWait { try body(context) }
    }

    /// Gives the orders that follow from the other ends of relationships, which differ from run to run, one that does not.
    private static func arrange(_ spec: MigrationSpec, _ context: NSManagedObjectContext) throws {
      for end in spec.relations.filter(\.hasInverse).map(\.to) where end.isOrdered {
        for object in try context.all(end.entity) {
          let members = object.list(end.name).sorted {
            ($0.value(forKey: "id") as? Int ?? 0) > ($1.value(forKey: "id") as? Int ?? 0)
          }
          object.setValue(NSOrderedSet(array: members), forKey: end.name)
        }
      }
    }

    /// The second ends of relationships whose ends have both been ordered.
    private static func twiceOrdered(_ spec: MigrationSpec) -> [String] {
      spec.relations.filter { $0.hasInverse && $0.from.isOrdered && $0.to.isOrdered }.map(\.to.name)
    }

    /// What objects look like. Orders count, except for relationships whose ends have both been ordered: `MigrationKindTests` of
    /// PostgreSQLStore compares them, without the way through a context.
    static func facts(
      _ spec: MigrationSpec, _ unordered: Set<String>, _ context: NSManagedObjectContext
    ) throws -> [Int: [String: [String]]] {
      var result = try MigrationSpec.read(spec, context)
      for root in spec.entities where root.parent == nil {
        for object in try context.all(root.name) {
          let id = object.value(forKey: "id") as? Int ?? -1
          for end in spec.relations.filter({ !unordered.contains($0.to.name) })
            .flatMap({ $0.hasInverse ? [$0.from, $0.to] : [$0.from] })
          where end.isOrdered && spec.inherits(object.entity.name ?? "", from: end.entity) {
            result[id]?[end.name] = object.list(end.name).map { "\($0.value(forKey: "id") as? Int ?? -1)" }
          }
        }
      }
      return result
    }
  }
#endif
