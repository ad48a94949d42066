public import CDEStore

/// A derived attribute whose value depends on other rows, and the places of what it depends on.
///
/// The engines keep the values up to date, each in its own way.
@_spi(CDE) public struct DerivedAttribute: Sendable {
  /// What the value is computed from.
  public enum Source: Sendable {
    /// An attribute of the row that a to-one relationship leads to.
    case copy(Copy)
    /// The rows whose foreign key is the owner's key.
    case members(Members)
    /// The rows that a join table relates to the owner.
    case pairs(Pairs)
  }

  /// A copied attribute.
  public struct Copy: Sendable {
    /// The relationship's column in the table of the derived attribute.
    public var key: String
    /// The entity that the relationship leads to.
    public var destination: EntityIndex
    /// The copied attribute, and its column in the table of the destination.
    public var attribute: String
    public var column: String
  }

  /// The members of a to-many relationship that refer to their owner.
  public struct Members: Sendable {
    /// The entity of the members.
    public var entity: EntityIndex
    /// The members' to-one relationship; nil if the relationship has no inverse.
    public var inverse: String?
    /// The column with the owner's key.
    public var key: String
    /// The summed attribute; nil for a count.
    public var summed: Summed?
  }

  /// The members of a many-to-many relationship.
  public struct Pairs: Sendable {
    /// The entity of the members.
    public var entity: EntityIndex
    /// The join table, from the owner's side.
    public var side: JoinTable.Side
    /// The summed attribute; nil for a count.
    public var summed: Summed?
  }

  /// A summed attribute, its column in the members' table, and its type.
  public struct Summed: Sendable {
    public var attribute: String
    public var column: String
    public var type: StoreAttributeType
  }

  /// The entity that declares the attribute.
  public let entity: ResolvedSchema.Entity
  /// The attribute's name.
  public let name: String
  /// The attribute's type.
  public let type: StoreAttributeType
  /// Its column.
  public let column: String
  /// The relationship that leads to what it is computed from.
  public let relationship: String
  /// What it is computed from.
  public let source: Source
}

extension PhysicalSchema {
  /// The attributes that are derived from other rows by known expressions, by entity and name.
  ///
  /// - Throws: `.invalidSchema` if one of them derives from a property that does not exist or has no column.
  public func derivedAttributes() throws(StoreError) -> [DerivedAttribute] {
    guard hasDerivedColumns else { return [] }
    var result: [DerivedAttribute] = []
    for entity in schema.entities where held.contains(entity.index) {
      for attribute in entity.source.attributes.sorted(by: { codePointOrder($0.name, $1.name) }) {
        guard let derivation = attribute.derivation, derivation.isKeptByStore, !attribute.isTransient else {
          continue
        }
        if case .foreign = derivation { continue }
        guard let column = columns(of: attribute.name, in: entity.index)?.first,
          let relationship = derivation.relationship, let source = derivedSource(derivation, of: entity)
        else {
          throw StoreError(
            .invalidSchema,
            "\(entity.source.name).\(attribute.name) derives from a relationship or attribute that does not "
              + "exist or has no column. Correct the derivation.",
            entity: entity.source.name, properties: [attribute.name])
        }
        result.append(
          DerivedAttribute(
            entity: entity, name: attribute.name, type: attribute.type, column: column,
            relationship: relationship, source: source))
      }
    }
    return result
  }

  private func derivedSource(
    _ derivation: StoreDerivation, of entity: ResolvedSchema.Entity
  ) -> DerivedAttribute.Source? {
    switch derivation {
    case .now, .attribute, .canonical, .lowercase, .uppercase, .foreign: nil
    case .copy(let relationship, let attribute): copy(relationship, attribute, of: entity)
    case .count(let relationship): members(of: relationship, summing: nil, of: entity)
    case .sum(let relationship, let attribute): members(of: relationship, summing: attribute, of: entity)
    }
  }

  private func copy(
    _ relationship: String, _ attribute: String, of entity: ResolvedSchema.Entity
  ) -> DerivedAttribute.Source? {
    guard let property = entity.layout.property(named: relationship), case .toOne = property.kind,
      let key = columns(of: relationship, in: entity.index)?.first
    else { return nil }
    let destination = schema.end(of: property.slot, in: entity.index).destination
    guard let column = columns(of: attribute, in: destination)?.first else { return nil }
    return .copy(
      .init(key: key, destination: destination, attribute: attribute, column: column))
  }

  private func members(
    of relationship: String, summing name: String?, of entity: ResolvedSchema.Entity
  ) -> DerivedAttribute.Source? {
    guard let property = entity.layout.property(named: relationship), case .toMany = property.kind else {
      return nil
    }
    let end = schema.end(of: property.slot, in: entity.index)
    var summed: DerivedAttribute.Summed?
    if let name {
      guard
        case .attribute(let attribute)? = schema.entities[end.destination].layout.property(named: name)?.kind,
        let column = columns(of: name, in: end.destination)?.first
      else { return nil }
      summed = .init(attribute: name, column: column, type: attribute.type)
    }
    let relation = PropertyKey(entity: property.declaringEntity, property: property.name)
    if let side = joinSides[relation] {
      return .pairs(.init(entity: end.destination, side: side, summed: summed))
    }
    if let implied = impliedColumns[relation] {
      return .members(.init(entity: end.destination, inverse: nil, key: implied.key, summed: summed))
    }
    guard let inverse = end.inverse, let key = columns(of: inverse.name, in: end.destination)?.first else {
      return nil
    }
    return .members(.init(entity: end.destination, inverse: inverse.name, key: key, summed: summed))
  }
}

extension StoreDerivation {
  /// The relationship that leads to the other rows.
  fileprivate var relationship: String? {
    switch self {
    case .now, .attribute, .canonical, .lowercase, .uppercase, .foreign: nil
    case .copy(let relationship, _), .count(let relationship), .sum(let relationship, _): relationship
    }
  }
}
