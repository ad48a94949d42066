public import CDEStore
public import Synchronization

/// What the raw texts of one property decode to, as far as they were read.
///
/// An enumeration finds a case by comparing its raw text with each of its cases' texts, which costs many
/// times what reading the text does. Texts up to 16 bytes are looked up here by their bytes instead, for any
/// object of the entity in any context. The first result of `init(rawValue:)` for a text is assumed to hold.
@usableFromInline
struct RawTexts {
  /// One text and its value, never changed once it is shared.
  @usableFromInline
  struct Entry {
    @usableFromInline let key: Key
    @usableFromInline let type: ObjectIdentifier
    /// The value's bytes, the first ones of these.
    @usableFromInline let bits: UInt64
  }

  /// The bytes of a short text, as two words that overlap in between.
  @usableFromInline
  struct Key: Equatable {
    @usableFromInline let head: UInt64
    @usableFromInline let tail: UInt64
    @usableFromInline let count: Int

    @inlinable @inline(__always)
    init?(_ bytes: UnsafeRawBufferPointer) {
      count = bytes.count
      guard count &- 1 < 16, let start = bytes.baseAddress else { return nil }
      if count >= 8 {
        head = start.loadUnaligned(as: UInt64.self)
        tail = (start + (count &- 8)).loadUnaligned(as: UInt64.self)
      } else if count >= 4 {
        head = UInt64(start.loadUnaligned(as: UInt32.self))
        tail = UInt64((start + (count &- 4)).loadUnaligned(as: UInt32.self))
      } else {
        head = UInt64(start.load(as: UInt8.self)) | UInt64((start + count &>> 1).load(as: UInt8.self)) &<< 8
        tail = UInt64((start + (count &- 1)).load(as: UInt8.self))
      }
    }

    @inlinable @inline(__always)
    static func == (one: Key, other: Key) -> Bool {
      one.head == other.head && one.tail == other.tail && one.count == other.count
    }

    @inlinable @inline(__always)
    var place: Int {
      let mixed = (head ^ (tail &* 0x9E37_79B9_7F4A_7C15)) &* 0x9E37_79B9_7F4A_7C15
      return Int(truncatingIfNeeded: mixed &>> 60)
    }
  }

  /// Whether a type's values are remembered: without references, and small enough for an entry.
  @inlinable @inline(__always)
  static func canHold<Value: RawRepresentable>(_ type: Value.Type) -> Bool {
    Value.RawValue.self == String.self && _isPOD(type)
      && MemoryLayout<Value>.size <= MemoryLayout<UInt64>.size
  }

  @inlinable static var capacity: Int { 16 }
  /// How many places can hold a text: the first and those after it.
  @inlinable static var reach: Int { 4 }

  @usableFromInline let places: UnsafeMutablePointer<Atomic<UnsafePointer<Entry>?>>

  init() {
    places = .allocate(capacity: Self.capacity)
    for index in 0..<Self.capacity { (places + index).initialize(to: Atomic(nil)) }
  }

  /// Frees all entries.
  ///
  /// - Precondition: no look-ups after this call.
  func free() {
    for index in 0..<Self.capacity { places[index].load(ordering: .relaxed)?.deallocate() }
    places.deinitialize(count: Self.capacity)
    places.deallocate()
  }

  @inlinable @inline(__always)
  func entry(_ bytes: UnsafeRawBufferPointer, _ type: ObjectIdentifier) -> UnsafePointer<Entry>? {
    guard let key = Key(bytes) else { return nil }
    let first = key.place
    for step in 0..<Self.reach {
      guard let entry = places[(first &+ step) & (Self.capacity - 1)].load(ordering: .acquiring) else {
        return nil
      }
      if entry.pointee.key == key, entry.pointee.type == type { return entry }
    }
    return nil
  }

  /// Remembers a text's value, while there is room for it.
  @usableFromInline
  func add(_ text: String, _ type: ObjectIdentifier, _ bits: UInt64) {
    var text = text
    guard let key = text.withUTF8({ Key(UnsafeRawBufferPointer($0)) }) else { return }
    let made = UnsafeMutablePointer<Entry>.allocate(capacity: 1)
    made.initialize(to: Entry(key: key, type: type, bits: bits))
    for step in 0..<Self.reach {
      let (isAdded, known) = places[(key.place + step) & (Self.capacity - 1)].compareExchange(
        expected: nil, desired: UnsafePointer(made), ordering: .acquiringAndReleasing)
      if isAdded { return }
      if let known, known.pointee.key == key, known.pointee.type == type { break }
    }
    made.deallocate()
  }
}

extension NSManagedObject {
  /// The value of a raw text that was read before; nil for one that was not, and for what is no text.
  @inlinable @inline(__always)
  final func _knownRaw<Value: RawRepresentable>(_ ordinal: Int) -> Value? where Value.RawValue: CDPrimitive {
    guard RawTexts.canHold(Value.self), let texts = _binding.places[ordinal].texts else { return nil }
    let entry =
      _flags.isDisjoint(with: .slowRead)
      ? Unmanaged.passUnretained(_batch)._withUnsafeGuaranteedRef {
        texts.entry($0.bytes(Int(_row), Int(_binding.places[ordinal].cell)), ObjectIdentifier(Value.self))
      }
      : _slowlyKnownRaw(_binding.places[ordinal], ObjectIdentifier(Value.self))
    guard let entry else { return nil }
    return withUnsafeBytes(of: entry.pointee.bits) { $0.load(as: Value.self) }
  }

  /// The same for an object that may be a fault, changed, or used on a wrong isolation.
  @usableFromInline
  final func _slowlyKnownRaw(_ place: EntityBinding.Place, _ type: ObjectIdentifier) -> UnsafePointer<
    RawTexts.Entry
  >? {
    guard let texts = place.texts else { return nil }
    willAccess()
    guard let overlay = _overlay, !overlay.values[Int(place.slot)].isUnset else {
      return texts.entry(_batch.bytes(Int(_row), Int(place.cell)), type)
    }
    guard case .text(var text) = overlay.values[Int(place.slot)] else { return nil }
    return text.withUTF8 { texts.entry(UnsafeRawBufferPointer($0), type) }
  }

  /// Decodes a raw value, and remembers what a text stands for.
  @inlinable @inline(__always)
  final func _decodeRaw<Value: RawRepresentable>(_ ordinal: Int, _ raw: Value.RawValue) -> Value?
  where Value.RawValue: CDPrimitive {
    guard let value = Value(rawValue: raw) else { return nil }
    if RawTexts.canHold(Value.self), let text = raw as? String, let texts = _binding.places[ordinal].texts {
      var bits: UInt64 = 0
      withUnsafeMutableBytes(of: &bits) { bits in withUnsafeBytes(of: value) { bits.copyMemory(from: $0) } }
      texts.add(text, ObjectIdentifier(Value.self), bits)
    }
    return value
  }
}
