@_spi(CDE) internal import CDEExecutors
import Foundation

/// The memory of rows, from the C library.
///
/// Swift's `allocate` asks for an alignment, which takes several times as long on Linux, and such memory can't be resized where it
/// is. A fault that is fired alone has a batch of its own, of which the memory was a tenth of the cost.
enum RowMemory {
  static func words(_ count: Int) -> UnsafeMutablePointer<UInt64> {
    bytes(count * MemoryLayout<UInt64>.stride).assumingMemoryBound(to: UInt64.self)
  }

  static func bytes(_ count: Int) -> UnsafeMutableRawPointer {
    guard let memory = malloc(max(count, 1)) else { exhausted(count) }
    return memory
  }

  /// Keeps the first `count` words, whatever fits.
  static func resize(_ words: UnsafeMutablePointer<UInt64>, to count: Int) -> UnsafeMutablePointer<UInt64> {
    resize(UnsafeMutableRawPointer(words), to: count * MemoryLayout<UInt64>.stride)
      .assumingMemoryBound(to: UInt64.self)
  }

  static func resize(_ bytes: UnsafeMutableRawPointer, to count: Int) -> UnsafeMutableRawPointer {
    guard let memory = realloc(bytes, max(count, 1)) else { exhausted(count) }
    return memory
  }

  static func free(_ memory: UnsafeMutableRawPointer) { Foundation.free(memory) }

  private static func exhausted(_ count: Int) -> Never {
    failPrecondition("There is no memory for \(count) bytes of rows.")
  }
}
