@_spi(CDE) internal import CDEModelRuntime
@_spi(CDE) internal import CDEPredicates
public import Foundation

/// The models to fetch, their order and number.
///
/// A value, so it may be made on any isolation and passed to the actor that fetches.
public struct FetchDescriptor<T: PersistentModel>: Sendable {
  /// The condition for the models; nil for all.
  public var predicate: Predicate<T>?
  /// The order of the models; empty for any order.
  public var sortBy: [SortDescriptor<T>]
  /// The maximum number of models; nil for all.
  public var fetchLimit: Int?
  /// The number of models to skip at the start of the order.
  public var fetchOffset: Int?
  /// Whether the context's unsaved changes are included; true by default.
  public var includePendingChanges = true
  /// The properties that the models will be asked for. Rows are read as a whole, and values are decoded when they are read.
  public var propertiesToFetch: [PartialKeyPath<T> & Sendable] = []
  /// Relationships to load with the result, in one query each.
  public var relationshipKeyPathsForPrefetching: [PartialKeyPath<T> & Sendable] = []

  /// Makes a descriptor of all models that satisfy a predicate, in an order.
  public init(predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []) {
    self.predicate = predicate
    self.sortBy = sortBy
  }
}

extension FetchDescriptor: Equatable {
  /// Whether the orders and options are the same, and the predicates are the same condition.
  public static func == (first: FetchDescriptor, second: FetchDescriptor) -> Bool {
    first.sortBy == second.sortBy && first.fetchLimit == second.fetchLimit
      && first.fetchOffset == second.fetchOffset
      && first.includePendingChanges == second.includePendingChanges
      && first.propertiesToFetch == second.propertiesToFetch
      && first.relationshipKeyPathsForPrefetching == second.relationshipKeyPathsForPrefetching
      && areSame(first.predicate, second.predicate)
  }

  private static func areSame(_ first: Predicate<T>?, _ second: Predicate<T>?) -> Bool {
    guard let first, let second else { return first == nil && second == nil }
    let trees = [first, second].map { try? PredicateTree($0, naming: ModelNaming()) }
    return trees[0] != nil && trees[0] == trees[1]
  }
}

extension FetchDescriptor {
  /// The request of the runtime.
  ///
  /// - Throws: ``SwiftDataError``, which names the construct or the property that can't be translated.
  func request(_ result: NSFetchRequestResultType = .managedObjectResultType) throws -> NSFetchRequest<
    NSManagedObject
  > {
    let request = NSFetchRequest<NSManagedObject>(entityName: Schema.entityName(for: T.self))
    try configure(request)
    request.resultType = result
    return request
  }

  func configure<Result>(_ request: NSFetchRequest<Result>) throws {
    if let predicate { request.predicate = NSPredicate(try tree(of: predicate)) }
    request.sortDescriptors = try sortBy.map { NSSortDescriptor(try term($0)) }
    request.fetchLimit = fetchLimit.map { max($0, 0) } ?? 0
    request.fetchOffset = max(fetchOffset ?? 0, 0)
    request.includesPendingChanges = includePendingChanges
    request.relationshipKeyPathsForPrefetching = try relationshipKeyPathsForPrefetching.map(name)
    for path in propertiesToFetch { _ = try name(path) }
  }

  private func tree(of predicate: Predicate<T>) throws -> PredicateTree {
    do { return try PredicateTree(predicate, naming: ModelNaming()) } catch {
      throw SwiftDataError.unsupportedPredicate.about(
        "The predicate for \(T.self) can't be translated for the store: \(error.message). Fetch with a simpler predicate, and "
          + "filter the result.", entity: Schema.entityName(for: T.self), cause: error)
    }
  }

  private func term(_ descriptor: SortDescriptor<T>) throws -> SortTerm {
    do { return try SortTerm(descriptor) } catch {
      if let path = descriptor.keyPath, let names = RelatedPaths.names(of: path, from: T.self) {
        return SortTerm(descriptor, along: names)
      }
      throw SwiftDataError.unsupportedSortDescriptor.about(
        "The order of \(T.self) can't be translated for the store: \(error.message). Sort by a persisted property of the "
          + "model, or of a model that its to-one relationships lead to.",
        entity: Schema.entityName(for: T.self), cause: error)
    }
  }

  private func name(_ path: PartialKeyPath<T>) throws -> String {
    let info = _ModelInfo.of(T.self)
    guard let ordinal = info.ordinal(of: path) else {
      throw SwiftDataError.unsupportedKeyPath.about(
        "A key path of \(T.self) to \(type(of: path).valueType) is none of its persisted properties. Name a stored property "
          + "that is not transient.", entity: Schema.entityName(for: T.self))
    }
    return info.names[ordinal]
  }
}
