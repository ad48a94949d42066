import CoreDataEvolution

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A file that saves are acknowledged in, one byte each, straight to the kernel: what is written survives
/// the process.
struct Acknowledgements {
  private let file: CInt

  init(_ path: String) {
    file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    precondition(
      file >= 0, "The file for acknowledgements could not be opened: \(String(cString: strerror(errno)))")
  }

  func write() {
    var byte: UInt8 = 1
    #if canImport(Darwin)
      let written = Darwin.write(file, &byte, 1)
    #elseif canImport(Musl)
      let written = Musl.write(file, &byte, 1)
    #else
      let written = Glibc.write(file, &byte, 1)
    #endif
    precondition(written == 1, "An acknowledgement could not be written.")
  }

  static func count(_ path: String) -> Int {
    (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
  }
}
