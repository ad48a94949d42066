#if PostgreSQL
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit

  /// A transaction in terms of names, so that each store makes its own batches of it.
  struct NamedTransaction {
    /// A row that the last commits have left.
    struct Known: Hashable {
      var entity: String
      var key: Int64
      var version: Int64
    }

    var inserted: [(entity: String, draft: Draft)] = []
    var updated: [(entity: String, draft: Draft, properties: [String])] = []
    var deleted: [(entity: String, key: Int64, version: Int64, emptied: [String], kept: [String])] = []
    var checked: [Known] = []
    var links:
      [(
        kind: LinkChange.Kind, entity: String, property: String, owner: Int64, member: Int64, order: Int64?,
        isAppended: Bool, isRanked: Bool
      )] = []

    func transaction(_ store: some Store) -> StoreTransaction {
      var result = StoreTransaction()
      result.inserted = inserted.map { store.batch($0.entity, [$0.draft]) }
      result.updated = updated.map { row in
        RowUpdate(
          batch: store.batch(row.entity, [row.draft]),
          changed: [PropertySet(row.properties.map { store.slot(row.entity, $0) })])
      }
      result.deleted = deleted.map { row in
        RowDeletion(
          entity: store.index(row.entity), key: row.key, version: row.version,
          emptied: PropertySet(row.emptied.map { store.slot(row.entity, $0) }),
          kept: PropertySet(row.kept.map { store.slot(row.entity, $0) }))
      }
      result.checked = checked.map {
        RowCheck(entity: store.index($0.entity), key: $0.key, version: $0.version)
      }
      result.links = links.map { link in
        var change = LinkChange(
          kind: link.kind, entity: store.index(link.entity), slot: store.slot(link.entity, link.property),
          owner: link.owner, member: link.member, order: link.order, isAppended: link.isAppended)
        change.isRanked = link.isRanked
        return change
      }
      return result
    }
  }
#endif
