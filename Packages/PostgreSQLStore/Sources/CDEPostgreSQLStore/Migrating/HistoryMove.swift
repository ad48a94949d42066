#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEStore

  /// Gives the changes of a history the numbers of the new model.
  ///
  /// They name entities by number and properties by bits. Changes of removed entities get the number 0, and bits that the old model
  /// does not explain become those of all properties.
  struct HistoryMove {
    let moves: EntityMoves
    let connection: Connection
    let pace: MigrationPace

    func run() throws(StoreError) {
      try migrateBits()
      func choice(_ value: (EntityMoves.Move) -> String, _ otherwise: String) -> String {
        let cases = moves.moves.map { "WHEN \(moves.source.numbers[$0.source]) THEN \(value($0))" }
        return cases.isEmpty
          ? otherwise : "CASE \"ZENTITY\" \(cases.joined(separator: " ")) ELSE \(otherwise) END"
      }
      let number = choice({ "\(moves.destination.numbers[$0.destination])" }, "0")
      let key = choice({ "\"ZENTITYPK\" + \($0.offset)" }, "\"ZENTITYPK\"")
      try connection.execute(
        "UPDATE \"ACHANGE\" SET \"ZENTITY\" = \(number), \"ZENTITYPK\" = \(key) "
          + "WHERE \"ZENTITY\" IS DISTINCT FROM \(number) OR \"ZENTITYPK\" IS DISTINCT FROM \(key)",
        while: StoreMigrator.task, asking: pace)
    }

    /// A history has few different sets of bits, so each is translated once.
    private func migrateBits() throws(StoreError) {
      let rows = try connection.run(
        #"SELECT DISTINCT "ZENTITY", "ZCOLUMNS" FROM "ACHANGE" WHERE "ZCOLUMNS" IS NOT NULL"#, Parameters(),
        while: StoreMigrator.task, asking: pace)
      if rows.count == 0 { return }
      var (numbers, old, new): ([Int64], [[UInt8]], [[UInt8]?]) = ([], [], [])
      for row in 0..<rows.count {
        let bytes = Array(rows.bytes(row, 1))
        let number = rows.integer(row, 0)
        var result: [UInt8]?
        if let entity = moves.source.indexes[number], let move = moves.move(of: entity) {
          result = translated(bytes, move)
        }
        if result == bytes { continue }
        numbers.append(number)
        old.append(bytes)
        new.append(result)
      }
      if numbers.isEmpty { return }
      var parameters = Parameters()
      parameters.append(numbers)
      parameters.append(bytes: old)
      parameters.append(bytes: new)
      _ = try connection.run(
        "UPDATE \"ACHANGE\" SET \"ZCOLUMNS\" = v.n FROM unnest($1::int8[], $2::bytea[], $3::bytea[]) AS v(e, o, n) "
          + "WHERE \"ZENTITY\" = v.e AND \"ZCOLUMNS\" = v.o", parameters, while: StoreMigrator.task,
        asking: pace)
    }

    private func translated(_ bits: [UInt8], _ move: EntityMoves.Move) -> [UInt8] {
      let old = moves.source.schema.entities[move.source]
      let new = moves.destination.schema.entities[move.destination]
      let wanted = HistoryEntity(new, moves.destination)
      let changed = bits.withUnsafeBytes { HistoryEntity(old, moves.source).decode($0) }
      guard let changed else { return wanted.encode(wanted.properties) }
      let names = Set(changed.map { old.layout.properties[$0].name })
      let slots = new.layout.properties.filter { property in
        move.properties[property.name]?.source.map(names.contains) ?? false
      }.map(\.slot)
      return wanted.encode(PropertySet(slots))
    }
  }
#endif
