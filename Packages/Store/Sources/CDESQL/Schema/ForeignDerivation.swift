public import CDEStore

/// A derived attribute whose expression only the program understands that made the store.
///
/// Its value is read as any other. The words of the expression tell on which properties it may depend; a write that changes one of
/// them would leave a wrong value, unless a trigger of the file updates it.
@_spi(CDE) public struct ForeignDerivation: Sendable {
  /// The entity that declares the attribute.
  public let entity: ResolvedSchema.Entity
  /// The name of the attribute.
  public let attribute: String
  private let expression: String
  /// The properties in the expression; nil if it has none that is known, so that each property may be one.
  private let names: Set<String>?
  /// The entities of other rows that the value may depend on.
  private let related: Set<EntityIndex>

  init(_ attribute: String, _ expression: String, of entity: ResolvedSchema.Entity, in schema: ResolvedSchema)
  {
    self.entity = entity
    self.attribute = attribute
    self.expression = expression
    let words = Set(
      expression.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init))
    func properties(_ index: EntityIndex) -> [RowLayout.Property] {
      schema.entities[index].layout.properties.elements.filter { words.isEmpty || words.contains($0.name) }
    }
    let known = entity.subtree.flatMap(properties).map(\.name)
    var names = words
    var related: Set<EntityIndex> = []
    var next = Array(entity.subtree)
    while let index = next.popLast() {
      for property in properties(index) {
        switch property.kind {
        case .attribute, .composite: continue
        case .toOne, .toMany:
          let end = schema.end(of: property.slot, in: index)
          // Members come and go by changes of their own side.
          if let inverse = end.inverse?.name { names.insert(inverse) }
          for other in schema.entities[end.destination].subtree
          where related.insert(other).inserted && !words.isEmpty {
            next.append(other)
          }
        }
      }
    }
    self.related = related
    self.names = words.isEmpty || known.isEmpty ? nil : names
  }

  // MARK: Writes

  /// Refuses an insertion that would leave a wrong value.
  ///
  /// - Throws: `.unknownDerivation` if new rows would need the value, or other rows' values may depend on them.
  public func checkInsertion(of entity: EntityIndex) throws(StoreError) {
    if self.entity.subtree.contains(entity) || related.contains(entity) { throw error("an insertion") }
  }

  /// Refuses a deletion that would leave a wrong value.
  ///
  /// - Throws: `.unknownDerivation` if values of other rows may depend on the rows.
  public func checkDeletion(of entity: EntityIndex) throws(StoreError) {
    if related.contains(entity) { throw error("a deletion") }
  }

  /// Refuses a change that would leave a wrong value.
  ///
  /// - Throws: `.unknownDerivation` if values may depend on a changed property.
  public func checkChange(of properties: some Sequence<String>, in entity: EntityIndex) throws(StoreError) {
    guard self.entity.subtree.contains(entity) || related.contains(entity) else { return }
    for property in properties where names?.contains(property) ?? true {
      throw error("a change of \(property)")
    }
  }

  private func error(_ change: String) -> StoreError {
    let name = "\(entity.source.name).\(attribute)"
    let what = expression.isEmpty ? "an expression" : "“\(expression)”"
    return StoreError(
      .unknownDerivation,
      "\(name) derives from \(what) that is not understood here, and \(change) would leave a wrong value in it. Nothing was saved. "
        + "Write such objects with the program that made the store.",
      entity: entity.source.name, properties: [attribute])
  }
}
