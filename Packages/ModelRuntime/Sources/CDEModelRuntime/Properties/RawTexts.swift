public import Synchronization

/// The decoded values of one property's raw texts that were read so far.
///
/// To find its case, an enumeration compares a raw text with the text of each case. That costs many times as
/// much as reading the text. This table finds texts up to 16 bytes by their bytes, for all objects of the
/// entity in all contexts. The first result of `init(rawValue:)` for a text is assumed to be permanent.
@usableFromInline
struct RawTexts {
  /// One text and its value. Never changed once it is shared.
  @usableFromInline
  struct Entry {
    @usableFromInline let key: Key
    @usableFromInline let type: ObjectIdentifier
    /// The value's bytes. Smaller values use the first ones.
    @usableFromInline let bits: UInt64
  }

  /// The bytes of a short text, as two words that overlap.
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

  /// Whether a type's values can be cached: without references, and small enough for an entry.
  @inlinable @inline(__always)
  static func canHold<Value: RawRepresentable>(_ type: Value.Type) -> Bool {
    Value.RawValue.self == String.self && _isPOD(type)
      && MemoryLayout<Value>.size <= MemoryLayout<UInt64>.size
  }

  @inlinable static var capacity: Int { 16 }
  /// The number of positions that can contain a text: the first one and its successors.
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

  /// Adds a text's value, if there is room for it.
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
