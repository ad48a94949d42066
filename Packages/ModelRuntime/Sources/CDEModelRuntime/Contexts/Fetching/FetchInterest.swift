@_spi(CDE) internal import CDEPredicates
public import CDEStore

/// Which commits can change the result of a fetch, or its order.
@_spi(CDE) public struct FetchInterest: Sendable {
  /// Indexes of the entities whose objects the fetch can return.
  public let entities: Range<EntityIndex>
  /// For each of these entities, the slots that decide about membership and order; nil when other objects'
  /// values also decide.
  private let slots: [PropertySet]?

  init(_ plan: FetchPlan, and keys: [String]) {
    let model = plan.binding.model
    entities =
      plan.includesSubentities
      ? model.schema.entities[plan.binding.index].subtree : plan.binding.index..<(plan.binding.index + 1)
    var reader = KeyReader()
    reader.read(plan.predicate)
    for term in plan.sort { reader.note(term.keyPath) }
    for key in keys { reader.note(key.split(separator: ".").map(String.init)) }
    guard !reader.isWide else {
      slots = nil
      return
    }
    slots = entities.map { index in
      PropertySet(reader.names.compactMap { model.entities[index].layout.slot(named: $0) })
    }
  }

  /// Whether a commit may have changed the fetch's result.
  public func isConcerned(by commit: CommittedTransaction) -> Bool {
    guard let slots else { return true }
    return commit.changes.contains { change in
      guard entities.contains(change.entity) else { return false }
      return change.kind != .updated
        || change.properties.intersects(slots[entities.lowerBound.distance(to: change.entity)])
    } || commit.touched.contains { entities.contains($0.entity) }
  }

  /// Collects the properties of its object that a predicate reads.
  private struct KeyReader {
    var names: Set<String> = []
    /// Whether it reads anything else.
    var isWide = false

    mutating func note(_ path: [String]) {
      if path.count == 1 { names.insert(path[0]) } else if path.count > 1 { isWide = true }
    }

    mutating func read(_ tree: PredicateTree) {
      tree.forEachExpression { expression in
        switch expression {
        case .keyPath(let path): note(path)
        case .function(.now, _): isWide = true
        case .aggregate, .subquery, .projection, .variable, .variableKeyPath, .call: isWide = true
        case .constant, .evaluatedObject, .function, .list, .conditional: break
        }
      }
    }
  }
}

extension NSManagedObjectContext {
  /// Which changes can alter the result of a request in this context.
  ///
  /// - Parameter keys: further key paths that matter to the caller.
  @_spi(CDE) public func interest<ResultType>(
    of request: NSFetchRequest<ResultType>, and keys: [String] = []
  ) throws -> FetchInterest {
    FetchInterest(try request.plan(in: self), and: keys)
  }
}
