internal import Foundation

/// What a predicate over transactions says of the part of the history to be read.
///
/// Only what every transaction must satisfy counts: parts that `&&` joins. The predicate itself is evaluated afterwards.
struct HistoryBounds {
  /// Only transactions with higher numbers.
  var after: Int64 = 0
  /// Only transactions of later times, in seconds since 2001.
  var since: Double?
  /// Only transactions of this store.
  var store: String?
  /// Tokens whose later transactions are asked for, also in a part of the condition.
  var tokens: [DefaultHistoryToken] = []
  /// Those that all transactions must follow, or have.
  var required: [(token: DefaultHistoryToken, isOpen: Bool)] = []
  /// Whether the predicate may look at the changes of a transaction.
  var readsChanges = false

  init(_ predicate: Predicate<DefaultHistoryTransaction>?) {
    guard let predicate else { return }
    add(predicate.expression, isRequired: true)
  }

  fileprivate mutating func add(_ expression: Any, isRequired: Bool) {
    guard let condition = expression as? any HistoryCondition else {
      readsChanges = true
      return
    }
    condition.add(to: &self, isRequired: isRequired)
  }

  /// The sides of a comparison between a property and a value; nil for another one.
  fileprivate mutating func sides(
    _ left: Any, _ right: Any
  ) -> (path: AnyKeyPath, value: Any, isReversed: Bool)? {
    if let path = (left as? any HistoryProperty)?.property,
      let value = (right as? any HistoryConstant)?.constant
    {
      return (path, value, false)
    }
    if let path = (right as? any HistoryProperty)?.property,
      let value = (left as? any HistoryConstant)?.constant
    {
      return (path, value, true)
    }
    readsChanges = true
    return nil
  }

  /// Takes `property > value`, or `>=`.
  fileprivate mutating func addLower(_ path: AnyKeyPath, _ value: Any, isOpen: Bool, isRequired: Bool) {
    switch path {
    case \DefaultHistoryTransaction.token:
      guard let token = value as? DefaultHistoryToken else { return }
      tokens.append(token)
      if isRequired { required.append((token, isOpen)) }
    case \DefaultHistoryTransaction.transactionIdentifier where isRequired:
      guard let number = value as? Int64 else { return }
      after = max(after, isOpen ? number : number > .min ? number - 1 : number)
    case \DefaultHistoryTransaction.timestamp where isRequired:
      guard let time = (value as? Date)?.timeIntervalSinceReferenceDate, !time.isNaN else { return }
      since = max(since ?? -.infinity, isOpen ? time : time.nextDown)
    default: break
    }
  }

  fileprivate mutating func addEqual(_ path: AnyKeyPath, _ value: Any) {
    switch path {
    case \DefaultHistoryTransaction.storeIdentifier: store = value as? String
    case \DefaultHistoryTransaction.transactionIdentifier, \DefaultHistoryTransaction.timestamp:
      addLower(path, value, isOpen: false, isRequired: true)
    default: break
    }
  }

  /// The number of the last transaction of a store that is not to be read.
  func after(in store: String) -> Int64 {
    required.reduce(max(after, 0)) { after, lower in
      guard let number = lower.token.place(in: store)?.number else { return after }
      return max(after, lower.isOpen ? number : number - 1)
    }
  }
}

// Foundation's expressions are generic structs, so each kind that is understood conforms.

private protocol HistoryCondition {
  func add(to bounds: inout HistoryBounds, isRequired: Bool)
}

private protocol HistoryProperty {
  /// The property of the transaction; nil if the path begins elsewhere.
  var property: AnyKeyPath? { get }
}

private protocol HistoryConstant {
  var constant: Any { get }
}

extension PredicateExpressions.KeyPath: HistoryProperty {
  fileprivate var property: AnyKeyPath? {
    guard root is PredicateExpressions.Variable<DefaultHistoryTransaction> else { return nil }
    return keyPath == \DefaultHistoryTransaction.changes ? nil : keyPath
  }
}

extension PredicateExpressions.Value: HistoryConstant {
  fileprivate var constant: Any { value }
}

extension PredicateExpressions.Conjunction: HistoryCondition {
  fileprivate func add(to bounds: inout HistoryBounds, isRequired: Bool) {
    bounds.add(lhs, isRequired: isRequired)
    bounds.add(rhs, isRequired: isRequired)
  }
}

extension PredicateExpressions.Disjunction: HistoryCondition {
  fileprivate func add(to bounds: inout HistoryBounds, isRequired: Bool) {
    bounds.add(lhs, isRequired: false)
    bounds.add(rhs, isRequired: false)
  }
}

extension PredicateExpressions.Negation: HistoryCondition {
  fileprivate func add(to bounds: inout HistoryBounds, isRequired: Bool) {
    // A condition that must be false asks for nothing.
    var inner = HistoryBounds(nil)
    inner.add(wrapped, isRequired: false)
    bounds.readsChanges = bounds.readsChanges || inner.readsChanges
  }
}

extension PredicateExpressions.Comparison: HistoryCondition {
  fileprivate func add(to bounds: inout HistoryBounds, isRequired: Bool) {
    guard let (path, value, isReversed) = bounds.sides(lhs, rhs) else { return }
    switch op {
    case .greaterThan where !isReversed, .lessThan where isReversed:
      bounds.addLower(path, value, isOpen: true, isRequired: isRequired)
    case .greaterThanOrEqual where !isReversed, .lessThanOrEqual where isReversed:
      bounds.addLower(path, value, isOpen: false, isRequired: isRequired)
    default: break
    }
  }
}

extension PredicateExpressions.Equal: HistoryCondition {
  fileprivate func add(to bounds: inout HistoryBounds, isRequired: Bool) {
    guard let (path, value, _) = bounds.sides(lhs, rhs), isRequired else { return }
    bounds.addEqual(path, value)
  }
}

extension PredicateExpressions.NotEqual: HistoryCondition {
  fileprivate func add(to bounds: inout HistoryBounds, isRequired: Bool) {
    _ = bounds.sides(lhs, rhs)
  }
}
