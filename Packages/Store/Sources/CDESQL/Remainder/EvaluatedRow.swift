public import CDEStore

/// A row whose conditions are decided in memory.
@_spi(CDE) public protocol EvaluatedRow {
  /// The row's key, unique in its inheritance tree.
  var key: Int64 { get }

  /// The row's own entity.
  var concreteEntity: EntityIndex { get }

  /// The value of an attribute, of a composite's leaf, or the key of a to-one relationship. Decimals are numbers here.
  ///
  /// - Parameter entity: the entity whose layout numbers the slot: the row's own or one that it inherits from.
  func value(of slot: SlotIndex, leaf: Int, in entity: EntityIndex) throws(StoreError) -> StoreValue

  /// The rows that a relationship leads to, in any order.
  ///
  /// - Parameter entity: the entity whose layout numbers the slot: the row's own or one that it inherits from.
  func destinations(of slot: SlotIndex, in entity: EntityIndex) throws(StoreError) -> [Self]
}

/// Patterns and regular expressions of a condition, each prepared once.
final class PreparedPatterns {
  private struct Key: Hashable {
    var text: [UInt8]
    var options: UInt8

    init(_ text: String, _ options: StoreFilter.TextOptions) {
      // Texts are different patterns if their bytes differ; Swift's equality is that of characters.
      self.text = Array(text.utf8)
      self.options = options.rawValue
    }
  }

  private var wildcards: [Key: WildcardPattern] = [:]
  private var expressions: [Key: RegularExpression] = [:]

  func wildcard(_ text: String, _ options: StoreFilter.TextOptions) -> WildcardPattern {
    let key = Key(text, options)
    if let known = wildcards[key] { return known }
    let pattern = WildcardPattern(TextFolding.folded(text, options))
    wildcards[key] = pattern
    return pattern
  }

  func expression(
    _ text: String, _ options: StoreFilter.TextOptions
  ) throws(StoreError) -> RegularExpression {
    let key = Key(text, options)
    if let known = expressions[key] { return known }
    guard let expression = RegularExpression(text, options: options) else {
      throw StoreError(
        .unsupportedQuery,
        "The regular expression of a condition is not valid. Write it in ICU's syntax.")
    }
    expressions[key] = expression
    return expression
  }
}
