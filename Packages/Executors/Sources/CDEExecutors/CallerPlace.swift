#if os(Linux) && canImport(Runtime)
  import Runtime

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// The place in a program's own source that called the library.
  enum CallerPlace {
    /// File and line of the innermost call on this thread that is not the library's own.
    ///
    /// Finds nothing in a program without debug information. Takes milliseconds in a small program and seconds of processor
    /// time in one of 200 MB, most of it for the line tables. `CDE_CALLER_PLACE=no` in the environment turns it off, for
    /// test processes that end by a trap many times.
    static func find() -> String? {
      if let setting = getenv("CDE_CALLER_PLACE"), String(cString: setting) == "no" { return nil }
      guard let trace = try? Backtrace.capture(limit: 64), let frames = trace.symbolicated()?.frames else {
        return nil
      }
      return line(in: frames)
    }

    static func line(in frames: [SymbolicatedBacktrace.Frame]) -> String? {
      for frame in frames {
        guard let place = frame.symbol?.sourceLocation, place.line > 0 else { continue }
        // Code that a macro or the compiler made lies in no file that a reader could open.
        let isSource = place.path.hasSuffix(".swift") && !place.path.contains("@__swiftmacro")
        if isSource, !isOwn(place.path) { return "\(place.path):\(place.line)" }
      }
      return nil
    }

    /// The innermost Swift function of a module outside of the library, for programs without line tables.
    static func function(in frames: [SymbolicatedBacktrace.Frame]) -> String? {
      for frame in frames {
        guard let symbol = frame.symbol, symbol.rawName.hasPrefix("$s") else { continue }
        // The mangled name begins with the module: its length, then its letters.
        let rest = symbol.rawName.dropFirst(2)
        guard let length = Int(rest.prefix(while: \.isNumber)) else { continue }
        let module = rest.drop(while: \.isNumber).prefix(length)
        if !module.hasPrefix("CDE") || module.hasSuffix("Tests") { return symbol.name }
      }
      return nil
    }

    /// Whether a file is one of the layers' sources. Their tests call the library as other programs do.
    private static func isOwn(_ path: String) -> Bool {
      path.hasPrefix(packages)
        && path.dropFirst(packages.count).split(separator: "/").dropFirst().first == "Sources"
    }

    /// The folder with the layers, from this file's own place in it: Executors/Sources/CDEExecutors.
    private static let packages: String = {
      let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
      return parts.dropLast(4).joined(separator: "/") + "/"
    }()
  }
#else
  enum CallerPlace {
    static func find() -> String? { nil }
  }
#endif
