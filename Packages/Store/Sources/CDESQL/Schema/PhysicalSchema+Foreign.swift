public import CDEStore

// Derived attributes that only the program understands that made the store.
@_spi(CDE) extension PhysicalSchema {
  /// All attributes of the file with such a derivation.
  static func foreignDerivations(_ schema: ResolvedSchema, _ held: Set<EntityIndex>) -> [ForeignDerivation] {
    schema.entities.elements.filter { held.contains($0.index) }.flatMap { entity in
      entity.source.attributes.compactMap { attribute in
        guard case .foreign(let text)? = attribute.derivation, !attribute.isTransient else { return nil }
        return ForeignDerivation(attribute.name, text, of: entity, in: schema)
      }
    }
  }

  /// Refuses a transaction that would leave a wrong value in a derived attribute.
  ///
  /// - Throws: `.unknownDerivation` if the transaction would leave a wrong value in a row.
  public func checkDerivations(_ transaction: StoreTransaction) throws(StoreError) {
    func names(_ slots: PropertySet, _ entity: EntityIndex) -> [String] {
      slots.map { schema.entities[entity].layout.properties[$0].name }
    }
    for derivation in foreign {
      for batch in transaction.inserted { try derivation.checkInsertion(of: batch.layout.entity) }
      for update in transaction.updated {
        let entity = update.batch.layout.entity
        for changed in update.changed { try derivation.checkChange(of: names(changed, entity), in: entity) }
      }
      for deletion in transaction.deleted { try derivation.checkDeletion(of: deletion.entity) }
      for link in transaction.links {
        try derivation.checkChange(
          of: [schema.entities[link.entity].layout.properties[link.slot].name], in: link.entity)
      }
    }
  }
}
