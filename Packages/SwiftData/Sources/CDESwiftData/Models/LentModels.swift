@_spi(CDE) internal import CDEModelRuntime
internal import Foundation

/// The models of one to-many relationship of an instance, as its accessor returned them last.
///
/// Reading the relationship again, and appending to it, then makes no array of all its models. The owner's instance keeps this, and
/// not its object: objects that are related keep each other, and a fetched instance keeps its context. At most one instance of a
/// context has models here, so that instances can't keep each other either.
final class LentModels {
  // Guard of the state: that of the models, the isolation of their context.
  /// What the instance would keep without this.
  private let context: ModelContext?
  private var ordinal = -1
  /// The sign that the relationship's members are still these models; nil if there are none here.
  private var mark: LentMark?
  /// The array; nil while it is changed in place.
  private var models: Any?
  /// The models as numbers, so that a change of the array is found.
  private var addresses: [UInt] = []

  init(_ context: ModelContext?) { self.context = context }

  private func isValid(_ owner: _ModelObject, _ ordinal: Int) -> Bool {
    guard ordinal == self.ordinal, let mark else { return false }
    return owner._cdMark(CDOrdinal(ordinal)) === mark
  }

  /// The models, unless the relationship has changed.
  func models<Other>(_ owner: _ModelObject, _ ordinal: Int, as type: Other.Type) -> [Other]? {
    isValid(owner, ordinal) ? models as? [Other] : nil
  }

  /// The same array, whose only reference the caller gets. The models are remembered.
  func take<Other>(_ owner: _ModelObject, _ ordinal: Int, as type: Other.Type) -> [Other]? {
    guard let taken = models(owner, ordinal, as: type) else { return nil }
    models = nil
    return taken
  }

  /// The models that were taken, or are here, as numbers. They are forgotten.
  func takeAddresses(_ owner: _ModelObject, _ ordinal: Int) -> [UInt]? {
    let isValid = isValid(owner, ordinal)
    let taken = addresses
    drop()
    return isValid ? taken : nil
  }

  /// Keeps the models that the members of a relationship have now.
  ///
  /// - Parameter added: the models that are not known to be harmless.
  func keep<Other: PersistentModel>(
    _ models: [Other], _ addresses: [UInt], added: ArraySlice<Other>, of owner: _ModelObject, _ ordinal: Int
  ) {
    drop()
    guard let context = owner.objectContext else { return }
    for model in added {
      let object = model._$object
      // An instance would keep itself, and a new one, which its context keeps, would keep a context.
      if object === owner || (owner.holdsModel && !object.isInserted) { return }
    }
    if context.lender !== self {
      context.lender?.drop()
      context.lender = self
    }
    let mark = LentMark()
    self.mark = mark
    self.ordinal = ordinal
    self.models = models
    self.addresses = addresses
    owner._cdMark(CDOrdinal(ordinal), mark)
  }

  func drop() {
    mark = nil
    models = nil
    addresses = []
  }
}

/// A sign that a relationship's members are still what they were when it was left.
final class LentMark: Sendable {
  /// The members were read once.
  static let read = LentMark()
}

extension Array where Element: AnyObject {
  var addresses: [UInt] {
    withUnsafeBufferPointer { $0.withMemoryRebound(to: UInt.self) { [UInt]($0) } }
  }

  /// Whether these objects come first.
  func begins(with addresses: [UInt]) -> Bool {
    guard count >= addresses.count else { return false }
    return withUnsafeBytes { mine in
      addresses.withUnsafeBytes { theirs in
        theirs.isEmpty || memcmp(mine.baseAddress!, theirs.baseAddress!, theirs.count) == 0
      }
    }
  }
}
