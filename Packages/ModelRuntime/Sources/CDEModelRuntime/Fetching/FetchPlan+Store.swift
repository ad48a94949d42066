@_spi(CDE) internal import CDEPredicates
internal import CDEStore
internal import Foundation

extension FetchPlan {
  /// Sends the plan to a source of rows. Converts the source's errors to the runtime's error.
  func ask<Answer>(
    _ source: any RowSource, _ ask: (StoreHandle, StoreQuery) throws -> Answer
  ) throws -> Answer {
    try answering(source) { handle in try ask(handle, try query(namingUnsaved: source.hasUnsavedRows)) }
  }

  /// Calls the first store of the plan's entity. Converts the errors to the runtime's error.
  func answering<Answer>(_ source: any RowSource, _ ask: (StoreHandle) throws -> Answer) throws -> Answer {
    let handle = try source.requiredHandle(for: binding)
    do {
      return try ask(handle)
    } catch let error as StoreError where [.tooBig, .unsupportedQuery].contains(error.code) {
      let path = PredicateKeyPaths(predicate, sort).longest
      let hint = path.count > 1 ? " Its longest key path is \(PredicateKeyPaths.shown(path))." : ""
      throw ManagedObjectError(
        .predicate, "The fetch of \(binding.name) can't be answered by the store: \(error.message)\(hint)",
        cause: error, entity: binding.name)
    } catch let error as StoreError {
      throw ManagedObjectError.store(error)
    } catch let error as PredicateTreeError {
      throw ManagedObjectError(
        .predicate, "The fetch of \(binding.name) can't be answered by the store: \(error.message)",
        cause: error,
        entity: binding.name)
    }
  }

  /// The plan as a query.
  ///
  /// - Parameter namesUnsaved: whether temporary keys identify objects that were never saved, as in the rows
  ///   of a context. A store has no rows for such objects.
  func query(namingUnsaved namesUnsaved: Bool = false) throws -> StoreQuery {
    let resolver = resolver(namingUnsaved: namesUnsaved)
    return StoreQuery(
      entity: binding.index, includesSubentities: includesSubentities,
      filter: try resolver.filter(predicate), sort: try resolver.sort(sort),
      limit: limit, offset: offset, keysOnly: keysOnly)
  }

  /// A reference as an ID; nil for other references. Only the types are compared: lists of objects are long, and casts took half of the time
  /// of their translation.
  private static func id<Reference: PredicateObjectReference>(_ reference: Reference) -> NSManagedObjectID? {
    guard Reference.self == NSManagedObjectID.self else { return nil }
    return withUnsafePointer(to: reference) { UnsafeRawPointer($0).load(as: NSManagedObjectID.self) }
  }

  /// The row that an encoded ID names; none, which has the key 0, if it is of another store or model.
  private func reference(_ named: any RowReferring) -> StoreValue {
    guard let local = binding.model.entity(named: named.entityName), let key = named.rowKey else {
      return .reference(entity: binding.index, key: 0)
    }
    let handle = source?.handles(for: local).first { $0.identifier == named.storeIdentifier }
    return .reference(entity: local.index, key: handle?.key(key) ?? 0)
  }

  func resolver(namingUnsaved namesUnsaved: Bool = false) -> QueryResolver {
    let names = CastEntities(predicate).names
    return QueryResolver(schema: binding.model.schema, entity: binding.index, castEntities: names) { object in
      guard let id = Self.id(object.reference) else {
        if let named = object.reference as? any RowReferring { return reference(named) }
        throw ManagedObjectError(
          .unsupportedRequest, "A predicate compares with an object that is no managed object.")
      }
      // No row has the key 0.
      if id.isTemporaryID && !namesUnsaved { return .reference(entity: id.binding.index, key: 0) }
      let local =
        id.binding.model === binding.model ? id.binding : binding.model.entity(named: id.binding.name)
      guard let source, let local else { return .reference(entity: id.binding.index, key: id.key) }
      return .reference(entity: id.binding.index, key: source.key(of: id, as: local) ?? 0)
    }
  }
}

/// The names of entities that a predicate compares an object's entity with, as a cast between classes does.
private struct CastEntities {
  private(set) var names: Set<String> = []

  init(_ predicate: PredicateTree) {
    readComparisons(of: predicate)
    predicate.forEachExpression {
      switch $0 {
      case .subquery(_, _, let inner), .conditional(let inner, _, _): readComparisons(of: inner)
      default: break
      }
    }
  }

  private mutating func readComparisons(of tree: PredicateTree) {
    var before: ExpressionTree?
    // Both sides of a comparison come one after the other.
    tree.forEachOperand { operand in
      if let left = before, Self.isEntityName(left), case .constant(.list(let names)) = operand {
        for case .string(let name) in names { self.names.insert(name) }
      }
      before = operand
    }
  }

  private static func isEntityName(_ expression: ExpressionTree) -> Bool {
    switch expression {
    case .keyPath(let path), .variableKeyPath(_, let path), .projection(_, let path):
      path.suffix(2) == ["entity", "name"]
    default: false
    }
  }
}

/// The key paths in a predicate and an order.
private struct PredicateKeyPaths {
  private(set) var longest: [String] = []

  init(_ predicate: PredicateTree, _ order: [SortTerm]) {
    for term in order { note(term.keyPath) }
    predicate.forEachExpression { expression in
      switch expression {
      case .keyPath(let path), .variableKeyPath(_, let path), .projection(_, let path): note(path)
      default: break
      }
    }
  }

  /// The path, or its beginning if it is too long for a message.
  static func shown(_ path: [String]) -> String {
    path.count <= 8
      ? path.joined(separator: ".")
      : path.prefix(3).joined(separator: ".") + "… with \(path.count) steps"
  }

  private mutating func note(_ path: [String]) {
    if path.count > longest.count { longest = path }
  }
}
