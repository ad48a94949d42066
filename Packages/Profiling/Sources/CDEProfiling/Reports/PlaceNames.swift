@_spi(CDE) internal import CDEExecutors
internal import Foundation

#if os(Linux) && canImport(Runtime)
  internal import Runtime
#endif

/// The names of the places from which stacks were taken.
///
/// A look-up reads the program's line tables, which takes seconds of processor time in one of 200 MB, however many addresses are looked
/// up. So all addresses are looked up together.
struct PlaceNames {
  private var known: [Int: String] = [:]

  /// `CDE_CALLER_PLACE=no` in the environment turns look-ups off, here as for the messages of traps.
  static var areLookedUp: Bool { ProcessInfo.processInfo.environment["CDE_CALLER_PLACE"] != "no" }

  init(_ stacks: [CallStack], areLookedUp: Bool) {
    guard areLookedUp else { return }
    #if os(Linux) && canImport(Runtime)
      let addresses = Set(stacks.flatMap(\.addresses)).sorted()
      guard let frames = JointTrace.frames(addresses) else { return }
      for stack in stacks {
        known[stack.way] = CallStack.place(in: stack.addresses.flatMap { frames[$0] ?? [] })
      }
    #endif
  }

  func name(_ stack: CallStack) -> String? { known[stack.way] }
}

#if os(Linux) && canImport(Runtime)
  /// One trace of many addresses.
  private enum JointTrace {
    /// What a trace is when it is written down.
    private struct Written: Codable {
      var architecture: String
      var backtrace: String
      var imageMap: String
    }

    /// The names of addresses: a call and what was inlined into it. Nil if a trace can't be made of them.
    static func frames(_ addresses: [UInt64]) -> [UInt64: [SymbolicatedBacktrace.Frame]]? {
      guard let trace = trace(addresses), let all = trace.symbolicated()?.frames else { return nil }
      return Dictionary(grouping: all) { UInt64($0.captured.originalProgramCounter) ?? 0 }
    }

    /// A trace can't be made of addresses. It can be written and read, in the runtime's documented compact form: after a byte for the
    /// size of addresses, each return address is an instruction with the difference from the one before.
    private static func trace(_ addresses: [UInt64]) -> Backtrace? {
      guard let own = try? Backtrace.capture(algorithm: .fast, limit: 1, top: 0),
        let data = try? JSONEncoder().encode(own),
        var written = try? JSONDecoder().decode(Written.self, from: data)
      else { return nil }
      var bytes: [UInt8] = [wordsOfEightBytes]
      var last: UInt64 = 0
      for address in addresses {
        bytes.append(returnAddress | 7)
        withUnsafeBytes(of: (address &- last).bigEndian) { bytes.append(contentsOf: $0) }
        last = address
      }
      bytes.append(end)
      written.backtrace = Data(bytes).base64EncodedString()
      guard let form = try? JSONEncoder().encode(written),
        let trace = try? JSONDecoder().decode(Backtrace.self, from: form),
        // A runtime with another form reads something else.
        trace.frames.compactMap({ UInt64($0.originalProgramCounter) }) == addresses
      else { return nil }
      return trace
    }

    private static let wordsOfEightBytes: UInt8 = 0x02
    private static let returnAddress: UInt8 = 0x20
    private static let end: UInt8 = 0x00
  }
#endif
