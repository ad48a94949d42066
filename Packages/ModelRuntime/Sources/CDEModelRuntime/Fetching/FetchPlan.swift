internal import CDEPredicates
internal import CDEStore

/// A fetch request whose names are resolved to the runtime's entities and properties.
struct FetchPlan {
  var binding: EntityBinding
  var predicate = PredicateTree.constant(true)
  var sort: [SortTerm] = []
  var limit: Int?
  var offset = 0
  var includesSubentities = true
  var includesPending = true
  var keysOnly = false
  var realizesFaults = false
  /// The number of objects whose rows are read together, when the first of them is used; nil for all at once.
  var batchSize: Int?
  var refreshes = false
  var prefetch: [String] = []
  /// What dictionaries are made of; nil if the results are objects.
  var dictionaries: DictionaryResults?
  /// The stores that the request names; nil for all.
  var stores: [NSPersistentStore]?
  /// Where the rows will come from, which has keys of its own for the objects that a predicate names; nil if their keys are
  /// taken as they are.
  var source: (any RowSource)?

  /// The entities whose objects the fetch can return.
  var entities: Range<EntityIndex> {
    includesSubentities
      ? binding.model.schema.entities[binding.index].subtree : binding.index..<(binding.index + 1)
  }

  /// The condition as a format; empty without one.
  var condition: String {
    if case .constant(true) = predicate { return "" }
    return "\(predicate)"
  }
}

/// What the dictionaries of a request are made of, in the form that the request has it.
struct DictionaryResults {
  /// Nil for all attributes.
  var properties: [Any]?
  var groups: [Any]
  var having: PredicateTree?
  var isDistinct: Bool
}
