internal import CDEPredicates

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
  var refreshes = false
  var prefetch: [String] = []
  /// The stores that the request names; nil for all.
  var stores: [NSPersistentStore]?
}
