internal import CDEPredicates
internal import CDEStore
public import Foundation

/// Which objects of a model to fetch, in which order and how many: SwiftData's descriptor.
///
/// A value, so it may be made anywhere and handed to the actor that fetches.
///
/// ```swift
/// var descriptor = FetchDescriptor<Item>(
///   predicate: #Predicate { $0.score > 80 }, sortBy: [SortDescriptor(\.title)])
/// descriptor.fetchLimit = 20
/// let items = try context.fetch(descriptor)
/// ```
public struct FetchDescriptor<Item: PersistentEntity>: Sendable {
  /// Which objects; nil for all.
  public var predicate: Predicate<Item>?
  /// In which order; empty for none in particular.
  public var sortBy: [SortDescriptor<Item>]
  /// At most so many objects; nil for all.
  public var fetchLimit: Int?
  /// How many objects of the order to leave out at the start.
  public var fetchOffset: Int?
  /// The properties that matter: snapshots encode no others. Empty for all.
  ///
  /// Rows are read whole in any case, because values are decoded when they are read.
  public var propertiesToFetch: [PartialKeyPath<Item> & Sendable] = []
  /// Relationships to load along with the result. Snapshots have the handles of those to many objects.
  public var relationshipKeyPathsForPrefetching: [PartialKeyPath<Item> & Sendable] = []
  /// Whether unsaved changes of the context count; true at first.
  public var includePendingChanges = true

  // A format's tree or error stays as it is until the fetch, which can throw.
  private let format: Result<PredicateTree, any Error>?
  private let terms: [Result<SortTerm, any Error>]

  /// Makes a descriptor of all objects for which the predicate holds, in the given order.
  ///
  /// - Parameters:
  ///   - predicate: Which objects; nil for all.
  ///   - sortBy: In which order; empty for none in particular.
  public init(predicate: Predicate<Item>? = nil, sortBy: [SortDescriptor<Item>] = []) {
    self.predicate = predicate
    self.sortBy = sortBy
    format = nil
    terms = []
  }

  /// The same with Core Data's predicates and sort descriptors, such as typed paths make.
  ///
  /// What can't be used in them is thrown by the fetch. A ``predicate`` and ``sortBy`` that are set later
  /// apply besides: both predicates must hold, and the order given here comes first.
  @_disfavoredOverload
  public init(predicate: NSPredicate, sortBy: [NSSortDescriptor] = []) {
    self.init(predicate, sortBy)
  }

  /// The same in an order of Core Data's sort descriptors.
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

  /// The descriptor in the runtime's terms.
  func plan(for model: ModelBinding) throws -> FetchPlan {
    let binding = try model.existingBinding(for: Item.self)
    var plan = FetchPlan(binding: binding)
    do {
      var parts: [PredicateTree] = []
      if let format { parts.append(try format.get()) }
      if let predicate { parts.append(try PredicateTree(predicate)) }
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
