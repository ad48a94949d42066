#if PostgreSQL
  @_spi(CDE) internal import CDEStore

  extension StoreTransaction {
    /// The update of one row, if the transaction does nothing else, and no derived attribute depends on it.
    ///
    /// Most saves of applications are such. The row's version can then be compared where it is written, without a lock before.
    func onlyUpdate(_ derivations: DerivedPlans?) -> RowUpdate? {
      guard updated.count == 1, updated[0].batch.count == 1, inserted.isEmpty, deleted.isEmpty, links.isEmpty,
        checked.isEmpty, pending.isEmpty, derivations?.isConcerned(by: updated[0]) != true
      else { return nil }
      return updated[0]
    }
  }

  extension TransactionWriter {
    /// Whether the update needs no statement besides its own: it writes no reference, and no rows have to be read for the contexts.
    /// Precondition: it writes no unique value.
    func canCommitAtOnce(_ update: RowUpdate) -> Bool {
      let entity = update.batch.layout.entity
      return derivations?.entities.contains(entity) != true
        && writes[entity].update(update.changed[0]).steps.allSatisfy { $0.kind != .key }
    }

    /// Writes the row, inserts the token and commits, in one statement. No transaction is open.
    ///
    /// - Returns: false if the row has another version, or another transaction holds it. Then nothing is written.
    func commit(_ update: RowUpdate, with token: CommitToken) throws(StoreError) -> Bool {
      let layout = update.batch.layout
      let statement = writes[layout.entity].update(update.changed[0])
      do throws(StoreError) {
        let rows = try connection.run(
          statement.alone, try parameters(of: update, statement, token),
          while: "Updating a row of \(layout.entityName)")
        return rows.affected > 0
      } catch {
        throw named(error, layout.entity)
      }
    }

    private func parameters(
      of update: RowUpdate, _ statement: WriteStatement, _ token: CommitToken
    ) throws(StoreError) -> Parameters {
      var parameters = try arrays.parameters(update.batch, 0, statement)
      parameters.append(token.uuid)
      parameters.append(update.batch.version(0) &- 1)
      return parameters
    }

    /// Begins the transaction, inserts the commit's token and writes the row, in one round trip. Checks come afterwards, as in ``write()``.
    ///
    /// - Returns: false if the row has another version. Then nothing is right yet: ``write()`` finds out about the conflict, in another
    ///   transaction.
    func write(only update: RowUpdate, with token: CommitToken) throws(StoreError) -> Bool {
      let layout = update.batch.layout
      let statement = writes[layout.entity].update(update.changed[0])
      let parameters = try parameters(of: update, statement, token)
      do throws(StoreError) {
        let task = "Updating a row of \(layout.entityName)"
        try connection.enqueue("BEGIN", while: task)
        if try connection.run(statement.only, parameters, while: task).affected == 0 { return false }
      } catch {
        throw named(error, layout.entity)
      }
      if let derivations, derivations.entities.contains(layout.entity) {
        try compute(derivedValues(derivations))
      }
      try checkUniqueness()
      try checkReferences()
      try connection.sendQueue()
      return true
    }
  }
#endif
