/// The values of a model at one time, as a store gets and gives them.
///
/// ``DefaultSnapshot`` fits every model. A type of the application's own is read by its coding: it encodes and decodes the key
/// `persistentIdentifier`, and the values under the names of the model's properties, as ``DefaultSnapshot`` does.
nonisolated public protocol DataStoreSnapshot: Codable, Sendable {
  /// The identity of the model.
  var persistentIdentifier: PersistentIdentifier { get }

  /// Takes the values of a model.
  ///
  /// - Parameters:
  ///   - backingData: the values. Its `persistentModelID` is the identity.
  ///   - relatedBackingDatas: those of the models that it leads to, by their identifiers.
  init(
    from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData])

  /// The same values with other identities.
  ///
  /// - Parameters:
  ///   - persistentIdentifier: the identity of the copy.
  ///   - remappedIdentifiers: replacements for the identities of models that the values lead to.
  func copy(
    persistentIdentifier: PersistentIdentifier,
    remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
  ) -> Self
}

/// What a value in a snapshot can do.
public typealias DataStoreSnapshotValue = Decodable & Encodable & Sendable
