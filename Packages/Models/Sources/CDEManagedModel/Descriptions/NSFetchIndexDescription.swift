public import Foundation

/// How an index orders one of its elements.
public enum NSFetchIndexElementType: UInt, Sendable {
  case binary = 0
  /// A spatial index, for numbers searched by range in several dimensions.
  case rTree = 1
}

/// One property of a fetch index.
nonisolated public final class NSFetchIndexElementDescription: NSObject, NSCopying, @unchecked Sendable {
  // Guard of @unchecked Sendable: mutable only until `immutable` is set, afterwards read-only.
  let immutable = ImmutableFlag()

  /// The indexed property, when the element was made from one.
  public let property: NSPropertyDescription?
  private let storedName: String?
  /// Name of the indexed property; `nil` for an expression.
  public var propertyName: String? { property?.name ?? storedName }
  /// The indexed expression, as a model file writes it; `nil` for a property. The store makes no index of
  /// expressions, so fetches by them read every row.
  @_spi(CDE) public let expressionFormat: String?
  /// Whether the element belongs to a binary index or to a spatial one.
  ///
  /// One element of type `.rTree` makes the whole index spatial. The setter traps when the model is in use.
  public var collationType: NSFetchIndexElementType {
    willSet { immutable.requireMutable("Index element \(propertyName ?? "")") }
  }
  /// Whether the index sorts lower values of the element first; `true` by default. A spatial index has no
  /// direction.
  ///
  /// The setter traps when the model is in use.
  public var isAscending = true {
    willSet { immutable.requireMutable("Index element \(propertyName ?? "")") }
  }

  /// Makes an ascending element for a property.
  ///
  /// - Parameters:
  ///   - property: A stored property of the index's entity, own or inherited. Retained.
  ///   - collationType: Whether the index is binary or spatial.
  public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
    self.property = property
    self.storedName = property.name
    self.expressionFormat = nil
    self.collationType = collationType
    super.init()
  }

  /// Makes an element from a name alone, for model readers that read indexes before properties.
  @_spi(CDE) public init(propertyName: String, collationType: NSFetchIndexElementType) {
    self.property = nil
    self.storedName = propertyName
    self.expressionFormat = nil
    self.collationType = collationType
    super.init()
  }

  /// Makes an element from the text of an expression, for model readers.
  @_spi(CDE) public init(expressionFormat: String, collationType: NSFetchIndexElementType) {
    self.property = nil
    self.storedName = nil
    self.expressionFormat = expressionFormat
    self.collationType = collationType
    super.init()
  }

  /// A mutable copy that refers to its property by name. ``property`` of the copy is nil.
  public func copy(with zone: NSZone? = nil) -> Any {
    // By name, so that the copy of an entity does not retain the original's properties.
    let result =
      if let expressionFormat {
        NSFetchIndexElementDescription(expressionFormat: expressionFormat, collationType: collationType)
      } else {
        NSFetchIndexElementDescription(propertyName: propertyName ?? "", collationType: collationType)
      }
    result.isAscending = isAscending
    return result
  }
}

/// An index over properties of an entity, so that fetches by them need not read every row.
nonisolated public final class NSFetchIndexDescription: NSObject, NSCopying, @unchecked Sendable {
  // Guard of @unchecked Sendable: mutable only until `immutable` is set, afterwards read-only.
  let immutable = ImmutableFlag()

  /// The index's name. The store derives the name of its own index from it. The setter traps when the model
  /// is in use.
  public var name: String { willSet { immutable.requireMutable("Index \(name)") } }
  /// The indexed elements, the most significant one first. Each must name a stored property of the entity, or `entity` for the
  /// entity of a row. The index leaves out to-many relationships, with a note.
  ///
  /// The names are checked when the model is first used. The setter traps when the model is in use.
  public var elements: [NSFetchIndexElementDescription] {
    willSet { immutable.requireMutable("Index \(name)") }
  }
  /// The entity that the index belongs to.
  public internal(set) weak var entity: NSEntityDescription?
  /// The condition for a row to be indexed; `nil` for all rows. The store applies a condition that consists
  /// of comparisons with nil; with any other the index covers all rows, which changes no result.
  ///
  /// The setter traps when the model is in use.
  public var partialIndexPredicate: NSPredicate? {
    willSet { immutable.requireMutable("Index \(name)") }
  }
  /// Names of properties that must not be nil for a row to be indexed; empty for a full index.
  @_spi(CDE) public var partialNotNil: [String] = [] {
    willSet { immutable.requireMutable("Index \(name)") }
  }

  /// Makes an index for ``NSEntityDescription/indexes``.
  ///
  /// - Parameters:
  ///   - name: A name that is unique among the indexes of the entity.
  ///   - elements: The indexed elements, the most significant one first; `nil` is an empty list.
  public init(name: String, elements: [NSFetchIndexElementDescription]?) {
    self.name = name
    self.elements = elements ?? []
    super.init()
  }

  /// A mutable copy with copies of the elements. It belongs to no entity.
  public func copy(with zone: NSZone? = nil) -> Any {
    let result = NSFetchIndexDescription(
      name: name, elements: elements.map { $0.copy() as! NSFetchIndexElementDescription })
    result.partialNotNil = partialNotNil
    result.partialIndexPredicate = partialIndexPredicate
    return result
  }

  func makeImmutable() {
    immutable.set()
    for element in elements { element.immutable.set() }
  }
}
