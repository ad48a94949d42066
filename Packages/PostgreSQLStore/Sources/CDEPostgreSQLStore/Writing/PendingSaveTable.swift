#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  internal import CDEStore

  /// The records and marks of saves over several stores, in the table `Z_PENDINGSAVE`.
  enum PendingSaveTable {
    private static let table = PhysicalSchema.Bookkeeping.pendingSaves.rawValue
    private static let task = "Recording a save over several stores"

    /// Adds records and marks to the current transaction.
    ///
    /// - Throws: `.tooBig` for a record of a gigabyte, and so on.
    static func add(_ saves: [PendingSave], on connection: Connection) throws(StoreError) {
      for save in saves {
        var parameters = Parameters()
        parameters.append(save.save)
        parameters.append(save.store)
        if let archive = save.archive {
          parameters.append(bytes: archive)
        } else {
          parameters.appendNull(.bytes)
        }
        try connection.enqueue(
          "INSERT INTO \(quoted(table)) (\"Z_SAVE\", \"Z_STORE\", \"Z_CONTENT\") VALUES ($1, $2, $3)",
          parameters,
          while: task)
      }
    }

    /// All records and marks.
    static func read(_ connection: Connection) throws(StoreError) -> [PendingSave] {
      let rows = try connection.run(
        "SELECT \"Z_SAVE\", \"Z_STORE\", \"Z_CONTENT\" FROM \(quoted(table)) ORDER BY 1, 2", while: task)
      return (0..<rows.count).map { row in
        PendingSave(
          save: rows.text(row, 0) ?? "", store: rows.text(row, 1) ?? "",
          archive: rows.isNull(row, 2) ? nil : Array(rows.bytes(row, 2)))
      }
    }

    static func remove(_ save: PendingSave, on connection: Connection) throws(StoreError) {
      var parameters = Parameters()
      parameters.append(save.save)
      parameters.append(save.store)
      _ = try connection.run(
        "DELETE FROM \(quoted(table)) WHERE \"Z_SAVE\" = $1 AND \"Z_STORE\" = $2", parameters, while: task)
    }
  }

  /// The lock by which the saves over several stores follow each other in one store, and those who complete them.
  ///
  /// It belongs to the session. A process that completes a save gets it when the session of the process that wrote the save has ended,
  /// and what that session had sent is then committed or not.
  enum SeveralStoresLock {
    private static func number(_ schema: String) -> Int64 {
      advisoryLock("CoreDataEvolution saves over several stores in \(schema)")
    }

    static func taking(_ schema: String) -> String { "SELECT pg_advisory_lock(\(number(schema)))" }
    static func releasing(_ schema: String) -> String { "SELECT pg_advisory_unlock(\(number(schema)))" }
  }
#endif
