@_spi(CDE) internal import CDEPredicates
internal import CDEStore
public import Foundation

/// The objects of a model to fetch, their order and number. The counterpart of SwiftData's descriptor.
///
/// A value, so it may be made on any isolation and passed to the actor that fetches.
///
/// ```swift
/// var descriptor = FetchDescriptor<Item>(
///   predicate: #Predicate { $0.score > 80 }, sortBy: [SortDescriptor(\.title)])
/// descriptor.fetchLimit = 20
/// let items = try context.fetch(descriptor)
/// ```
public struct FetchDescriptor<Item: PersistentEntity>: Sendable {
  /// The condition for the objects; nil for all.
  public var predicate: Predicate<Item>?
  /// The order of the objects; empty for any order.
  public var sortBy: [SortDescriptor<Item>]
  /// The maximum number of objects; nil for all.
  public var fetchLimit: Int?
  /// The number of objects to skip at the start of the order.
  public var fetchOffset: Int?
  /// The properties that snapshots encode. Empty for all.
  ///
  /// Whole rows are read in any case, because values are decoded when they are read.
  public var propertiesToFetch: [PartialKeyPath<Item> & Sendable] = []
  /// Relationships to load with the result. Snapshots contain the handles of to-many relationships among
  /// them.
  public var relationshipKeyPathsForPrefetching: [PartialKeyPath<Item> & Sendable] = []
  /// Whether the context's unsaved changes are included; true by default.
  public var includePendingChanges = true

  // The tree or the error of a format is stored until the fetch, which can throw.
  private let format: Result<PredicateTree, any Error>?
  private let terms: [Result<SortTerm, any Error>]

  /// Makes a descriptor of all objects that satisfy the predicate, in the given order.
  ///
  /// - Parameters:
  ///   - predicate: The condition for the objects; nil for all.
  ///   - sortBy: The order of the objects; empty for any order.
  public init(predicate: Predicate<Item>? = nil, sortBy: [SortDescriptor<Item>] = []) {
    self.predicate = predicate
    self.sortBy = sortBy
    format = nil
    terms = []
  }

  /// The same with Core Data's predicates and sort descriptors, for example those made from typed paths.
  ///
  /// The fetch throws the errors of predicates and orders that can't be used. A ``predicate`` and ``sortBy``
  /// set later apply in addition: both predicates must be true, and the order given here comes first.
  @_disfavoredOverload
  public init(predicate: NSPredicate, sortBy: [NSSortDescriptor] = []) {
    self.init(predicate, sortBy)
  }

  /// The same with an order of Core Data's sort descriptors.
  @_disfavoredOverload
  public init(predicate: Predicate<Item>? = nil, sortBy: [NSSortDescriptor]) {
    self.init(nil, sortBy)
    self.predicate = predicate
  }

  private init(_ predicate: NSPredicate?, _ order: [NSSortDescriptor]) {
    self.predicate = nil
    sortBy = []
    format = predicate.map { predicate in Result { try predicate.predicateTree() } }
    terms = order.map { descriptor in Result { try SortTerm(descriptor) } }
  }

  // MARK: For contexts

  /// The descriptor with names resolved in a model.
  func plan(for model: ModelBinding) throws -> FetchPlan {
    let binding = try model.existingBinding(for: Item.self)
    var plan = FetchPlan(binding: binding)
    do {
      var parts: [PredicateTree] = []
      if let format { parts.append(try format.get()) }
      if let predicate { parts.append(try PredicateTree(predicate, naming: ModelClassNaming(model: model))) }
      plan.predicate = parts.isEmpty ? .constant(true) : parts.count == 1 ? parts[0] : .and(parts)
      plan.sort = try terms.map { try $0.get() }
      for descriptor in sortBy { plan.sort.append(try SortTerm(descriptor)) }
    } catch {
      throw ManagedObjectError(
        .predicate, "The descriptor can't be used: \(error)", cause: error, entity: binding.name)
    }
    plan.limit = fetchLimit.map { max($0, 0) }
    plan.offset = max(fetchOffset ?? 0, 0)
    plan.includesPending = includePendingChanges
    plan.prefetch = try names(of: relationshipKeyPathsForPrefetching, binding)
    return plan
  }

  /// The slots that snapshots encode, or nil for all.
  func encodedSlots(_ binding: EntityBinding) throws -> PropertySet? {
    if propertiesToFetch.isEmpty { return nil }
    return PropertySet(
      try names(of: propertiesToFetch, binding).compactMap { binding.layout.slot(named: $0) })
  }

  private func names(of paths: [PartialKeyPath<Item>], _ binding: EntityBinding) throws -> [String] {
    try paths.map { path in
      guard let name = Item.predicateKey(for: path), binding.property(name) != nil else {
        throw ManagedObjectError(
          .unsupportedRequest,
          "A key path of \(Item.self) to \(Swift.type(of: path).valueType) is none of its persisted properties. Name "
            + "stored properties in propertiesToFetch and relationshipKeyPathsForPrefetching.",
          entity: binding.name)
      }
      return name
    }
  }
}
