public import CDEPredicates

// Foundation on Linux declares these three names as well, so rewritten sources qualify them.

/// What rewritten classes conform to, so that predicates and sort descriptors take their key paths.
public typealias _CDKeyPathNaming = PredicateKeyPathNaming

/// An expression of a predicate, which can be made from parts and taken apart.
public typealias NSExpression = TreeExpression
/// A predicate that compares two expressions.
public typealias NSComparisonPredicate = TreeComparisonPredicate
/// A predicate that combines others by "and", "or" or "not".
public typealias NSCompoundPredicate = TreeCompoundPredicate
