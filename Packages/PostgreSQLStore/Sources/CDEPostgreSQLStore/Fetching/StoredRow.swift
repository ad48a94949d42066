#if PostgreSQL
  @_spi(CDE) internal import CDEStore
  internal import Foundation

  /// A row of the store whose conditions are decided in memory.
  struct StoredRow: EvaluatedRow {
    let reference: RowReference
    /// The rows that were read together with this one.
    let cohort: RowCohort

    var key: Int64 { reference.key }

    var concreteEntity: EntityIndex { reference.batch.layout.entity }

    func value(of slot: SlotIndex, leaf: Int, in entity: EntityIndex) throws(StoreError) -> StoreValue {
      guard let property = cohort.property(slot, of: entity, in: reference.batch.layout),
        leaf < property.cells.count
      else { return .null }
      let (batch, row, cell) = (reference.batch, reference.row, property.cells.lowerBound + leaf)
      if batch.isNull(row, cell) { return .null }
      switch (batch.layout.cells[cell].kind, batch.layout.cells[cell].type) {
      case (.integer, _): return .integer(Int64(bitPattern: batch.word(row, cell)))
      case (.real, _): return .real(Double(bitPattern: batch.word(row, cell)))
      case (.text, .decimal):
        let digits = batch.string(row, cell) ?? ""
        return Int64(digits).map { .integer($0) } ?? Double(digits).map { .real($0) } ?? .null
      case (.text, _): return .text(batch.string(row, cell) ?? "")
      case (.blob, _): return .blob(Data(batch.bytes(row, cell)))
      }
    }

    func destinations(of slot: SlotIndex, in entity: EntityIndex) throws(StoreError) -> [StoredRow] {
      try cohort.destinations(of: slot, in: entity)[key] ?? []
    }
  }

  /// Rows that were read together.
  ///
  /// If the destinations of one of them are needed, those of all of them are read, by one statement. So a condition over a path costs
  /// as many statements as the path has relationships, and not one for each row.
  final class RowCohort {
    private struct Relationship: Hashable {
      var entity: EntityIndex
      var slot: SlotIndex
    }

    private let plans: SchemaPlans
    private let connection: Connection
    private let references: [RowReference]
    private var loaded: [Relationship: [Int64: [StoredRow]]] = [:]

    /// - Precondition: the connection's transaction sees one state.
    init(_ plans: SchemaPlans, _ connection: Connection, _ rows: [RowReference]) {
      self.plans = plans
      self.connection = connection
      references = rows
    }

    convenience init(_ plans: SchemaPlans, _ connection: Connection, _ rows: FetchedRows) {
      self.init(plans, connection, rows.references)
    }

    /// The rows in their order.
    var rows: [StoredRow] { references.map { StoredRow(reference: $0, cohort: self) } }

    /// A property in the layout of a row; nil if the row's entity lacks it.
    ///
    /// - Parameter entity: the entity whose layout numbers the slot.
    func property(_ slot: SlotIndex, of entity: EntityIndex, in layout: RowLayout) -> RowLayout.Property? {
      if layout.entity == entity { return layout.properties[slot] }
      return layout.property(named: plans.schema.entities[entity].layout.properties[slot].name)
    }

    /// For each row, by its key, the rows that a relationship leads to.
    func destinations(of slot: SlotIndex, in entity: EntityIndex) throws(StoreError) -> [Int64: [StoredRow]] {
      let relationship = Relationship(entity: entity, slot: slot)
      if let known = loaded[relationship] { return known }
      let found =
        if case .toOne = plans.schema.entities[entity].layout.properties[slot].kind {
          try single(slot, in: entity)
        } else {
          try several(slot, in: entity)
        }
      loaded[relationship] = found
      return found
    }

    private func single(_ slot: SlotIndex, in entity: EntityIndex) throws(StoreError) -> [Int64: [StoredRow]]
    {
      var targets: [Int64: Int64] = [:]
      for reference in references {
        guard let cell = property(slot, of: entity, in: reference.batch.layout)?.cells.first else { continue }
        targets[reference.key] = reference.batch.integer(reference.row, cell)
      }
      let destination = plans.schema.end(of: slot, in: entity).destination
      let rows = try plans.rows(
        entity: destination, keys: Array(Set(targets.values)).sorted(), on: connection, asOf: 0)
      var byKey: [Int64: StoredRow] = [:]
      for row in RowCohort(plans, connection, rows).rows { byKey[row.key] = row }
      return targets.compactMapValues { target in byKey[target].map { [$0] } }
    }

    private func several(_ slot: SlotIndex, in entity: EntityIndex) throws(StoreError) -> [Int64: [StoredRow]]
    {
      let owners = references.map(\.key)
      let reader = try RelatedReader(plans, connection, entity: entity, slot: slot, asOf: 0)
      let related = try reader.read(owners, isKnown: nil)
      var byKey: [Int64: StoredRow] = [:]
      for row in RowCohort(plans, connection, related.rows).rows { byKey[row.key] = row }
      var result: [Int64: [StoredRow]] = [:]
      for (owner, range) in zip(owners, related.ranges) {
        result[owner] = related.entries[range].compactMap { byKey[$0.key] }
      }
      return result
    }
  }

  extension FetchedRows {
    /// The rows in their order.
    ///
    /// - Precondition: all of them are decoded.
    var references: [RowReference] {
      order.map { order in
        order.map { RowReference(batch: batches[Int($0.batch)], row: Int($0.row)) }
      } ?? batches.flatMap { batch in (0..<batch.count).map { RowReference(batch: batch, row: $0) } }
    }
  }
#endif
