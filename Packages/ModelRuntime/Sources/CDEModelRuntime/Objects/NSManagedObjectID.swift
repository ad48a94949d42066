public import CDEManagedModel
public import CDEPredicates
internal import CDERuntimeABI
internal import CDEStore
public import Foundation

/// The identity of an object: its store, entity and key.
///
/// An ID is temporary from insertion to the first save. A permanent ID names the same row in every context
/// and process. Two IDs are equal when they name the same row, whichever container they come from.
public final class NSManagedObjectID: NSObject, @unchecked Sendable {
  // Guard: immutable, except for `follower`, which only the executor of the home's context uses.

  /// An object and its registry, by their addresses.
  struct Residence {
    let home: UnsafeMutableRawPointer
    let object: UnsafeRawPointer
  }

  /// The registry of the object that the ID was made for. It is only compared, because it may be freed.
  let home: UnsafeMutableRawPointer?
  /// That object, which may be freed too. The ID keeps its memory, so a look-up can check without a lock
  /// whether the object is alive.
  let resident: UnsafeRawPointer?
  /// The object of an ID that was made a little later. It is only prefetched, because it may be freed.
  @exclusivity(unchecked) var follower: UnsafeRawPointer?
  let key: Int64
  // The model keeps the binding alive, because IDs outlive contexts and containers.
  unowned(unsafe) let binding: EntityBinding
  private let model: ModelBinding
  let store: StoreHandle?
  /// The batch request whose result the ID is part of.
  let origin: BatchOrigin?

  init(
    binding: EntityBinding, key: Int64, store: StoreHandle?, residence: Residence? = nil,
    origin: BatchOrigin? = nil
  ) {
    self.origin = origin
    home = residence?.home
    resident = residence?.object
    if let resident { cde_keep_memory(resident) }
    self.binding = binding
    model = binding.model
    self.key = key
    self.store = store
  }

  /// Makes an ID of no object, which equals only itself. Tests use it where some ID is needed.
  public override convenience init() {
    self.init(binding: ModelBinding.ofNoObject.entities[0], key: 0, store: nil)
  }

  deinit {
    if let resident { cde_give_back_memory(resident) }
  }

  /// The key of the row in its store. Coordinators of several stores use other keys.
  var ownKey: Int64 { store?.ownKey(key) ?? key }

  /// Whether the object was never saved. A temporary ID is valid in its own context only.
  public var isTemporaryID: Bool { key <= 0 }

  /// The entity of the object the ID was made for.
  public var entity: NSEntityDescription { binding.description }

  /// The store that contains the row; nil for a temporary ID.
  public var persistentStore: NSPersistentStore? { isTemporaryID ? nil : store?.persistentStore }

  /// The number of the object's row in its store, which is the column `Z_PK` of a file; nil for a temporary ID.
  ///
  /// The same number is at the end of ``uriRepresentation()``, after the letter `p`. It identifies an object among those of its entity's
  /// tree and store, and costs nothing: a program that writes many objects as text need not make a URL for each. Core Data has no such
  /// property.
  public var primaryKey: Int64? { isTemporaryID ? nil : ownKey }

  /// `x-coredata://<store UUID>/<Entity>/p<key>`; a temporary ID ends in `t<UUID>`.
  public func uriRepresentation() -> URL {
    let last = isTemporaryID ? "t\(unsavedUUID.uuidString)" : "p\(ownKey)"
    return Self.uri(store: isTemporaryID ? "" : store?.identifier ?? "", entity: binding.name, last: last)
  }

  /// The URI of an object. The store's name is a UUID, unless the file was damaged.
  static func uri(store: String, entity: String, last: String) -> URL {
    let host = encoded(store, hostCharacters)
    let path = encoded(entity, .urlPathAllowed)
    // Each part is percent-encoded or made of hexadecimal digits, so this is always a URL.
    return URL(string: "x-coredata://\(host)/\(path)/\(last)")!
  }

  /// A text with percent escapes. Foundation takes microseconds to find that a plain name needs none.
  private static func encoded(_ text: String, _ allowed: CharacterSet) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        || byte == 0x2D
    }
    return isPlain ? text : text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
  }

  private static let hostCharacters = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-")

  /// Temporary keys are unique in the process, and the other half of the UUID is unique everywhere.
  private var unsavedUUID: UUID {
    // An object without a context has no key. Until it has one, its address distinguishes it from other
    // objects.
    let number = key == 0 ? UInt64(UInt(bitPattern: ObjectIdentifier(self).hashValue)) : key.magnitude
    var bytes = Self.processUUID.uuid
    withUnsafeMutableBytes(of: &bytes) { bytes in
      for (index, byte) in withUnsafeBytes(of: number.bigEndian, Array.init).enumerated() {
        bytes[8 + index] ^= byte
      }
    }
    return UUID(uuid: bytes)
  }

  private static let processUUID = UUID()

  public override func isEqual(_ object: Any?) -> Bool {
    guard let object, let other = ofOwnClass(object) else { return false }
    if self === other { return true }
    // Key 0 belongs to objects without a context. Such an ID equals only itself.
    guard ownKey == other.ownKey, key != 0 else { return false }
    if binding.model === other.binding.model {
      return binding.root == other.binding.root
        && (isTemporaryID || store?.identifier == other.store?.identifier)
    }
    // Another version of the model may number its entities otherwise.
    return !isTemporaryID && store?.identifier == other.store?.identifier
      && binding.rootName == other.binding.rootName
  }

  public override var hash: Int {
    var hasher = Hasher()
    hasher.combine(ownKey)
    hasher.combine(binding.rootNameHash)
    return hasher.finalize()
  }

  public override var description: String { "<\(uriRepresentation().absoluteString)>" }
}

extension NSManagedObjectID: PredicateObjectReference {
  /// The ID's URI, which `predicateFormat` prints.
  public var predicateDescription: String { uriRepresentation().absoluteString }
}
