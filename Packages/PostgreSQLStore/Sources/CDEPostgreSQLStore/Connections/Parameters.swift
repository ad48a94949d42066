#if PostgreSQL
  internal import CDEStore
  internal import Foundation

  /// The parameters of one run of a statement, or rows for COPY, in the server's binary format, in one block of memory.
  struct Parameters: ~Copyable {
    /// The server's types.
    private(set) var types: [UInt32] = []
    /// Where each value begins in the block, and its length; -1 for null.
    private(set) var spans: [(offset: Int, length: Int32)] = []
    private var block: UnsafeMutableRawPointer
    private var capacity = 256
    private var used = 0
    /// The place of the array that is being written.
    private var arrayStart = 0
    private var arrayCount: Int32 = 0
    private var arrayHasNull = false

    /// The server refuses longer messages.
    static let byteLimit = (1 << 30) - (1 << 20)

    init() { block = .allocate(byteCount: capacity, alignment: 8) }

    deinit { block.deallocate() }

    var count: Int { spans.count }

    /// The number of bytes of all values.
    var byteCount: Int { used }

    /// Calls a body with the values, their lengths and their formats, as libpq takes them.
    func withPointers<Result>(
      _ body: (_ values: [UnsafePointer<CChar>?], _ lengths: [Int32], _ formats: [Int32]) -> Result
    ) -> Result {
      var values: [UnsafePointer<CChar>?] = []
      values.reserveCapacity(count)
      for index in 0..<count { values.append(pointer(index)) }
      return body(values, spans.map { max($0.length, 0) }, [Int32](repeating: 1, count: count))
    }

    /// The values, valid while the parameters exist and don't change.
    private func pointer(_ index: Int) -> UnsafePointer<CChar>? {
      spans[index].length < 0
        ? nil : UnsafeRawPointer(block + spans[index].offset).assumingMemoryBound(to: CChar.self)
    }

    // MARK: Single values

    mutating func append(_ value: Int64) {
      begin(.integer, 8)
      write(value.bigEndian)
    }

    mutating func append(_ value: Double) {
      begin(.double, 8)
      write(value.bitPattern.bigEndian)
    }

    /// - Precondition: the text contains no zero byte, which the server refuses.
    mutating func append(_ value: String) {
      var value = value
      value.withUTF8 {
        begin(.text, $0.count)
        write(UnsafeRawBufferPointer($0))
      }
    }

    mutating func append(bytes value: [UInt8]) {
      begin(.bytes, value.count)
      value.withUnsafeBytes { write($0) }
    }

    mutating func append(_ value: UUID) {
      begin(.uuid, 16)
      withUnsafeBytes(of: value.uuid) { write($0) }
    }

    mutating func appendNull(_ type: ServerType) {
      types.append(type.rawValue)
      spans.append((used, -1))
    }

    mutating func append(_ values: [Int64]) {
      beginArray(.integer)
      for value in values { appendElement(value) }
      endArray()
    }

    mutating func append(_ values: ArraySlice<Int64>) {
      beginArray(.integer)
      for value in values { appendElement(value) }
      endArray()
    }

    mutating func append(_ values: [UUID]) {
      beginArray(.uuid)
      for value in values { withUnsafeBytes(of: value.uuid) { appendElement($0) } }
      endArray()
    }

    mutating func append(texts values: [String]) {
      beginArray(.text)
      for var value in values { value.withUTF8 { appendElement(UnsafeRawBufferPointer($0)) } }
      endArray()
    }

    mutating func append(bytes values: [[UInt8]?]) {
      beginArray(.bytes)
      for value in values {
        if let value { value.withUnsafeBytes { appendElement($0) } } else { appendNullElement() }
      }
      endArray()
    }

    // MARK: Arrays

    /// Begins an array. Elements follow, then ``endArray()``.
    mutating func beginArray(_ type: ServerType) {
      types.append(type.array)
      arrayStart = used
      arrayCount = 0
      arrayHasNull = false
      write(Int32(1).bigEndian)
      write(Int32(0))
      write(type.rawValue.bigEndian)
      write(Int32(0))
      // The first element has the index 1.
      write(Int32(1).bigEndian)
    }

    mutating func appendElement(_ value: Int64) {
      write(Int32(8).bigEndian)
      write(value.bigEndian)
      arrayCount += 1
    }

    mutating func appendElement(_ value: Double) {
      write(Int32(8).bigEndian)
      write(value.bitPattern.bigEndian)
      arrayCount += 1
    }

    mutating func appendElement(_ value: Bool) {
      write(Int32(1).bigEndian)
      write(UInt8(value ? 1 : 0))
      arrayCount += 1
    }

    mutating func appendElement(_ bytes: UnsafeRawBufferPointer) {
      write(Int32(bytes.count).bigEndian)
      write(bytes)
      arrayCount += 1
    }

    mutating func appendNullElement() {
      write(Int32(-1).bigEndian)
      arrayHasNull = true
      arrayCount += 1
    }

    mutating func endArray() {
      var start = block + arrayStart
      if arrayCount == 0 {
        // An empty array has no dimension.
        start.storeBytes(of: 0, as: Int32.self)
        used = arrayStart + 12
      } else {
        start += 4
        start.storeBytes(of: Int32(arrayHasNull ? 1 : 0).bigEndian, as: Int32.self)
        (start + 8).storeBytes(of: arrayCount.bigEndian, as: Int32.self)
      }
      spans.append((arrayStart, Int32(used - arrayStart)))
    }

    /// Begins a single value. One element follows, then ``endValue()``.
    mutating func beginValue(_ type: ServerType) {
      types.append(type.rawValue)
      arrayStart = used
    }

    /// The element becomes a value of its own, without its length.
    mutating func endValue() {
      let length = Int32(bigEndian: (block + arrayStart).loadUnaligned(as: Int32.self))
      spans.append((arrayStart + 4, length))
    }

    // MARK: Memory

    private mutating func begin(_ type: ServerType, _ length: Int) {
      types.append(type.rawValue)
      spans.append((used, Int32(length)))
    }

    /// Calls a body with all bytes, and drops them.
    mutating func takeBytes(
      _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void
    ) throws(StoreError) {
      defer { used = 0 }
      try body(UnsafeRawBufferPointer(start: block, count: used))
    }

    @inline(__always)
    mutating func write<Value: BitwiseCopyable>(_ value: Value) {
      let size = MemoryLayout<Value>.size
      if used + size > capacity { grow(to: used + size) }
      (block + used).storeBytes(of: value, as: Value.self)
      used += size
    }

    private mutating func write(_ bytes: UnsafeRawBufferPointer) {
      if used + bytes.count > capacity { grow(to: used + bytes.count) }
      if let start = bytes.baseAddress { (block + used).copyMemory(from: start, byteCount: bytes.count) }
      used += bytes.count
    }

    private mutating func grow(to needed: Int) {
      capacity = max(capacity * 2, needed)
      let grown = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
      grown.copyMemory(from: block, byteCount: used)
      block.deallocate()
      block = grown
    }
  }
#endif
