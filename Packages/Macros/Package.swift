// swift-tools-version: 6.2
import CompilerPluginSupport
import Foundation
import PackageDescription

/// The folder of the running toolchain that holds its own SwiftSyntax modules.
///
/// The manifest runs inside the package manager's process, whose memory map names the toolchain it
/// came from; no environment variable does so reliably.
func toolchainHostFolder() -> String? {
  guard let maps = FileHandle(forReadingAtPath: "/proc/self/maps") else { return nil }
  // Read to its end through a handle: the kernel hands the file out in pieces.
  let text = String(decoding: (try? maps.readToEnd()) ?? Data(), as: UTF8.self)
  let marker = "/lib/swift/pm/ManifestAPI/libPackageDescription.so"
  for line in text.split(separator: "\n") where line.hasSuffix(marker) {
    guard let start = line.firstIndex(of: "/") else { continue }
    let host = line[start...].dropLast(marker.count) + "/lib/swift/host"
    if FileManager.default.fileExists(atPath: host + "/SwiftSyntax.swiftmodule") {
      return String(host)
    }
  }
  return nil
}

let syntaxModules = [
  "SwiftSyntax", "SwiftSyntaxMacros", "SwiftSyntaxBuilder", "SwiftParser", "SwiftDiagnostics",
  "SwiftOperators", "SwiftBasicFormat", "SwiftSyntaxMacroExpansion",
  "SwiftCompilerPluginMessageHandling", "SwiftParserDiagnostics", "SwiftIfConfig",
]

var swiftFlags: [String] = []
var linkFlags: [String] = []
if let host = toolchainHostFolder() {
  swiftFlags = ["-I", host]
  linkFlags = ["-L", host, "-Xlinker", "-rpath", "-Xlinker", host] + syntaxModules.map { "-l\($0)" }
} else {
  #if os(Linux)
    fatalError(
      """
      The Swift toolchain's SwiftSyntax modules were not found (<toolchain>/lib/swift/host). \
      Install the full toolchain from swift.org; slim images leave them out.
      """)
  #endif
}

let package = Package(
  name: "Macros",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "CDEMacrosPlugin", targets: ["CDEMacros"])
  ],
  targets: [
    .target(
      name: "CDEMacroExpansion",
      swiftSettings: [.unsafeFlags(swiftFlags)],
      linkerSettings: [.unsafeFlags(linkFlags)]),
    .macro(
      name: "CDEMacros",
      dependencies: ["CDEMacroExpansion"],
      swiftSettings: [.unsafeFlags(swiftFlags)],
      linkerSettings: [.unsafeFlags(linkFlags)]),
    .testTarget(
      name: "CDEMacroExpansionTests",
      dependencies: ["CDEMacroExpansion"],
      swiftSettings: [.unsafeFlags(swiftFlags)],
      linkerSettings: [.unsafeFlags(linkFlags)]),
  ],
  swiftLanguageModes: [.v6]
)
